/// The encoding of bytes as base64 (RFC 4648): the properties that decoding loses and that are needed to write the same
/// text again.
struct Base64Form: Equatable {
    /// Whether the alphabet is that of URLs (RFC 4648, section 5).
    var isURLSafe: Bool
    var isPadded: Bool
    /// The length of each line except the last; 0 if the text has no line breaks.
    var lineLength = 0
    /// Whether a line ends in CR LF instead of LF.
    var hasCarriageReturns = false

    /// Decodes text.
    ///
    /// - Returns: `nil` if `encoded` would not give exactly this text.
    static func decoded(_ text: ArraySlice<UInt8>) -> (text: Base64Form, bytes: [UInt8])? {
        if let decoded = unbroken(text) { return decoded }
        var form = Base64Form(isURLSafe: false, isPadded: true)
        guard let digits = form.joinLines(text), let decoded = unbroken(digits) else { return nil }
        (form.isURLSafe, form.isPadded) = (decoded.text.isURLSafe, decoded.text.isPadded)
        return (form, decoded.bytes)
    }

    /// Writes bytes in the canonical form of RFC 4648, section 4: signed or proven bytes must have only one encoding.
    static func canonical(_ bytes: [UInt8]) -> String {
        String(decoding: Base64Form(isURLSafe: false, isPadded: true).digits(bytes), as: UTF8.self)
    }

    /// The bytes of text in the canonical form; `nil` for any other text.
    static func canonicalBytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0, let (form, bytes) = unbroken(ArraySlice(text)), !form.isURLSafe else { return nil }
        return bytes
    }

    /// Decodes text without line breaks.
    private static func unbroken(_ text: ArraySlice<UInt8>) -> (text: Base64Form, bytes: [UInt8])? {
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        guard padding == 0 || text.count % 4 == 0 else { return nil }
        for isURLSafe in [false, true] {
            guard let bytes = bytes(text.dropLast(padding), isURLSafe: isURLSafe) else { continue }
            return (Base64Form(isURLSafe: isURLSafe, isPadded: padding > 0), bytes)
        }
        return nil
    }

    /// Writes bytes as text.
    func encoded(_ bytes: [UInt8]) -> [UInt8] {
        let digits = digits(bytes)
        guard lineLength > 0 else { return digits }
        var text: [UInt8] = []
        text.reserveCapacity(digits.count + digits.count / lineLength * 2)
        for start in stride(from: 0, to: digits.count, by: lineLength) {
            if start > 0 { text += lineBreak }
            text += digits[start..<min(start + lineLength, digits.count)]
        }
        return text
    }

    private var lineBreak: [UInt8] { hasCarriageReturns ? Self.carriageReturn : Self.lineFeed }
    private static let lineFeed: [UInt8] = [0x0A]
    private static let carriageReturn: [UInt8] = [0x0D, 0x0A]

    /// The text without its line breaks; `nil` unless all lines except the last have the same length and the same kind
    /// of break.
    private mutating func joinLines(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let end = text.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else { return nil }
        lineLength = end - text.startIndex
        hasCarriageReturns = text[end] == 0x0D
        guard lineLength > 0 else { return nil }
        let lineBreak = lineBreak
        var digits: [UInt8] = []
        digits.reserveCapacity(text.count)
        var rest = text
        while rest.count > lineLength {
            digits += rest.prefix(lineLength)
            rest = rest.dropFirst(lineLength)
            guard rest.starts(with: lineBreak), rest.count > lineBreak.count else { return nil }
            rest = rest.dropFirst(lineBreak.count)
        }
        digits += rest
        return digits[...]
    }

    /// The bytes of digits without padding; `nil` for other characters, and for a last digit with unused bits that are
    /// set.
    private static func bytes(_ digits: ArraySlice<UInt8>, isURLSafe: Bool) -> [UInt8]? {
        let values = isURLSafe ? urlSafeValues : standardValues
        let (groups, rest) = (digits.count / 4, digits.count % 4)
        guard rest != 1 else { return nil }
        // The value of an invalid character has its highest bit set.
        var wrong: UInt8 = 0
        let count = groups * 3 + max(0, rest - 1)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            digits.withUnsafeBufferPointer { digits in
                values.withUnsafeBufferPointer { values in
                    for group in 0..<groups {
                        let a = values[Int(digits[4 * group])]
                        let b = values[Int(digits[4 * group + 1])]
                        let c = values[Int(digits[4 * group + 2])]
                        let d = values[Int(digits[4 * group + 3])]
                        wrong |= a | b | c | d
                        bytes[3 * group] = a << 2 | b >> 4
                        bytes[3 * group + 1] = b << 4 | c >> 2
                        bytes[3 * group + 2] = c << 6 | d
                    }
                    guard rest > 0 else { return }
                    let a = values[Int(digits[4 * groups])]
                    let b = values[Int(digits[4 * groups + 1])]
                    wrong |= a | b
                    bytes[3 * groups] = a << 2 | b >> 4
                    guard rest == 3 else {
                        if b & 0x0F != 0 { wrong = 0x80 }
                        return
                    }
                    let c = values[Int(digits[4 * groups + 2])]
                    wrong |= c
                    if c & 0x03 != 0 { wrong = 0x80 }
                    bytes[3 * groups + 1] = b << 4 | c >> 2
                }
            }
            initialized = count
        }
        return wrong & 0x80 == 0 ? bytes : nil
    }

    /// The digits of bytes, padded if the text is.
    private func digits(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = isURLSafe ? Self.urlSafeAlphabet : Self.standardAlphabet
        let (groups, rest) = (bytes.count / 3, bytes.count % 3)
        let count = groups * 4 + (rest == 0 ? 0 : isPadded ? 4 : rest + 1)
        return [UInt8](unsafeUninitializedCapacity: count) { digits, initialized in
            bytes.withUnsafeBufferPointer { bytes in
                alphabet.withUnsafeBufferPointer { alphabet in
                    for group in 0..<groups {
                        let (a, b, c) = (bytes[3 * group], bytes[3 * group + 1], bytes[3 * group + 2])
                        digits[4 * group] = alphabet[Int(a >> 2)]
                        digits[4 * group + 1] = alphabet[Int((a & 0x03) << 4 | b >> 4)]
                        digits[4 * group + 2] = alphabet[Int((b & 0x0F) << 2 | c >> 6)]
                        digits[4 * group + 3] = alphabet[Int(c & 0x3F)]
                    }
                    guard rest > 0 else { return }
                    let a = bytes[3 * groups]
                    let b = rest == 2 ? bytes[3 * groups + 1] : 0
                    digits[4 * groups] = alphabet[Int(a >> 2)]
                    digits[4 * groups + 1] = alphabet[Int((a & 0x03) << 4 | b >> 4)]
                    if rest == 2 { digits[4 * groups + 2] = alphabet[Int((b & 0x0F) << 2)] }
                    for place in (4 * groups + rest + 1)..<max(count, 4 * groups + rest + 1) {
                        digits[place] = UInt8(ascii: "=")
                    }
                }
            }
            initialized = count
        }
    }

    private static let standardAlphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlSafeAlphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let standardValues = values(of: standardAlphabet)
    private static let urlSafeValues = values(of: urlSafeAlphabet)

    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }
}
