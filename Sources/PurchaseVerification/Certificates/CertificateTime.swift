import TextFormats

/// UTCTime and GeneralizedTime in the only format that certificates may use: with seconds and Z (RFC 5280, 4.1.2.5.1
/// and .2).
enum CertificateTime {
    static func read(_ bytes: Span<UInt8>, _ element: DERElement) throws(VerificationError) -> AppStoreTime {
        let malformed = VerificationError(.certificateMalformed, expected: "a time as RFC 5280 prescribes")
        let yearDigits: Int
        switch element.tag {
        case DERTag.utcTime: yearDigits = 2
        case DERTag.generalizedTime: yearDigits = 4
        default: throw malformed
        }
        let content = element.content
        guard content.count == yearDigits + 11, bytes[content.upperBound - 1] == UInt8(ascii: "Z") else {
            throw malformed
        }
        var numbers: [Int64] = []
        var offset = content.lowerBound
        for width in [yearDigits, 2, 2, 2, 2, 2] {
            var number: Int64 = 0
            for position in offset..<(offset + width) {
                guard case UInt8(ascii: "0")...UInt8(ascii: "9") = bytes[position] else { throw malformed }
                number = number * 10 + Int64(bytes[position] - UInt8(ascii: "0"))
            }
            numbers.append(number)
            offset += width
        }
        // Two digits mean 1950 to 2049.
        let year = yearDigits == 4 ? numbers[0] : numbers[0] + (numbers[0] < 50 ? 2000 : 1900)
        guard (1...12).contains(numbers[1]), numbers[2] >= 1,
            numbers[2] <= CivilDate.days(inMonth: numbers[1], of: year),
            numbers[3] < 24, numbers[4] < 60, numbers[5] < 60
        else { throw malformed }
        let days = CivilDate(year: year, month: numbers[1], day: numbers[2]).daysSince1970
        let seconds = ((days * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]
        return AppStoreTime(millisecondsSince1970: seconds * 1000)
    }
}
