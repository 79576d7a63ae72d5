/// The values of numbers whose form the scanner has checked (RFC 8259, 6).
enum JSONNumber {
    /// The number, if it is whole and fits. It is exact: nothing is rounded.
    static func integer<Number: FixedWidthInteger>(_ text: ArraySlice<UInt8>) -> Number? {
        let isNegative = text.first == UInt8(ascii: "-")
        // A number of this many digits fits into 64 bits.
        if text.count <= 18, let magnitude = digits(isNegative ? text.dropFirst() : text) {
            return Number(exactly: isNegative ? -magnitude : magnitude)
        }
        guard let (magnitude, exponent) = scientific(isNegative ? text.dropFirst() : text) else { return nil }
        return scaled(magnitude, exponent, isNegative)
    }

    /// The number nearest to the written one; `nil` if it is too large.
    static func double(_ text: ArraySlice<UInt8>) -> Double? {
        let number = Double(String(decoding: text, as: UTF8.self))
        return number?.isFinite == true ? number : nil
    }

    /// A number that consists of at most 18 decimal digits only.
    private static func digits(_ text: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for byte in text {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number &* 10 &+ Int64(digit)
        }
        return number
    }

    /// All digits without the zeros at their end, and their power of ten; `nil` beyond the range of 64-bit whole
    /// numbers.
    private static func scientific(_ text: ArraySlice<UInt8>) -> (digits: ArraySlice<UInt8>, exponent: Int)? {
        var digits: ArraySlice<UInt8> = []
        var exponent = 0
        var rest = text
        var isFraction = false
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if byte | 0x20 == UInt8(ascii: "e") {
                guard let written = Int(String(decoding: rest, as: UTF8.self)) else { return nil }
                // Larger than any exponent that the digits of one number can compensate.
                exponent += max(-1000, min(1000, written))
                break
            } else {
                digits.append(byte)
                exponent -= isFraction ? 1 : 0
            }
        }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        return (digits, exponent)
    }

    private static func scaled<Number: FixedWidthInteger>(
        _ digits: ArraySlice<UInt8>, _ exponent: Int, _ isNegative: Bool
    ) -> Number? {
        guard !digits.isEmpty else { return 0 }
        guard exponent >= 0 else { return nil }
        var number: Number = 0
        for place in 0..<(digits.count + exponent) {
            let byte = place < digits.count ? digits[digits.startIndex + place] : UInt8(ascii: "0")
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            guard !overflow, let digit = Number(exactly: byte &- UInt8(ascii: "0")) else { return nil }
            // Counted downwards, because the smallest number has no positive counterpart.
            let (sum, sumOverflow) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            guard !sumOverflow else { return nil }
            number = sum
        }
        return number
    }
}
