import TextFormats

/// The period in which a certificate may be used, both ends included (RFC 5280, 4.1.2.5).
struct CertificateValidity: Sendable, Equatable {
    let notBefore: AppStoreTime
    let notAfter: AppStoreTime

    init(notBefore: AppStoreTime, notAfter: AppStoreTime) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    init(_ bytes: Span<UInt8>, _ content: Range<Int>) throws(VerificationError) {
        var cursor = DERCursor(content)
        notBefore = try CertificateTime.read(bytes, try cursor.next(bytes))
        notAfter = try CertificateTime.read(bytes, try cursor.next(bytes))
        try cursor.finish()
    }

    /// The period in which both may be used.
    func intersection(_ other: CertificateValidity) -> CertificateValidity {
        CertificateValidity(notBefore: max(notBefore, other.notBefore), notAfter: min(notAfter, other.notAfter))
    }

    /// Whether the time is in the period.
    func contains(_ moment: AppStoreTime) -> Bool { moment >= notBefore && !isOver(at: moment) }

    /// How long after the end of an authority the evidence under it may still be genuine, in milliseconds. In February
    /// 2023 Apple embedded an intermediate for hours after its end.
    static let recent: Int64 = 48 * 3_600_000

    /// Checks that the time is in the period, or at most `tolerance` milliseconds after it.
    func require(
        _ moment: AppStoreTime, of subject: @autoclosure () -> String, tolerance: Int64 = 0
    ) throws(VerificationError) {
        guard moment >= notBefore else {
            throw VerificationError(
                .certificateNotYetValid, expected: "\(notBefore) or later for \(subject())", found: "\(moment)")
        }
        guard !isOver(at: moment, tolerance) else {
            throw VerificationError(
                .certificateExpired, expected: "\(notAfter) or earlier for \(subject())", found: "\(moment)")
        }
    }

    /// Certificates count whole seconds, so the last second is included to its end.
    private func isOver(at moment: AppStoreTime, _ tolerance: Int64 = 0) -> Bool {
        moment.millisecondsSince1970 > notAfter.millisecondsSince1970 + 999 + tolerance
    }
}

extension VerificationError {
    /// The error at the time of an answer: `certificate_just_expired` in the 48 hours after the end of an authority
    /// that had just ended when the evidence was signed, if nothing else of its certificates is wrong.
    public func at(_ now: AppStoreTime) -> VerificationError {
        guard let end = authorityEnd,
            now.millisecondsSince1970 <= end.millisecondsSince1970 + CertificateValidity.recent
        else { return self }
        return VerificationError(.certificateJustExpired, expected: expected, found: found)
    }
}

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
