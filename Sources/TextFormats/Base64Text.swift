/// Base64 as clients send it (RFC 4648): decoded strictly first, and if that fails with the known repairs. The result
/// names each repair.
public enum Base64Text {
    /// The repair with which a text was decoded.
    public enum Repair: Sendable {
        case none
        /// Line breaks or other white space were removed.
        case whiteSpace
        /// `-` and `_` were read as `+` and `/` (RFC 4648, 5).
        case urlAlphabet
        /// Spaces were read as plus signs, which a form post decoded.
        case formDecoded
    }

    /// Whether all of the first bytes could be base64 in one of its encodings.
    public static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        for byte in bytes.prefix(16) where !isAlphabet(byte) && !isWhiteSpace(byte) && byte != UInt8(ascii: "=") {
            return false
        }
        return true
    }

    /// The text without white space at either end.
    public static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        // Some editors put a byte order mark in front.
        let afterMark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = bytes[afterMark...].drop(while: isWhiteSpace)
        // Searched only in the text: before it, there could be a byte order mark followed by white space.
        guard let last = text.lastIndex(where: { !isWhiteSpace($0) }) else { return [] }
        return text[...last]
    }

    /// The decoded bytes and their repair; `nil` if no repair makes the text base64.
    public static func decode(_ text: ArraySlice<UInt8>) -> (bytes: [UInt8], repair: Repair)? {
        if let bytes = Base64Decoder.decode(text.span) { return (bytes, .none) }
        var usesURLAlphabet = false
        var spaces = 0
        var otherWhiteSpace = 0
        var characters: [UInt8] = []
        characters.reserveCapacity(text.count + 3)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"):
                characters.append(UInt8(ascii: "+"))
                usesURLAlphabet = true
            case UInt8(ascii: "_"):
                characters.append(UInt8(ascii: "/"))
                usesURLAlphabet = true
            case UInt8(ascii: " "):
                characters.append(byte)
                spaces += 1
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                otherWhiteSpace += 1
            default:
                characters.append(byte)
            }
        }
        let folded = decoded(characters.filter { $0 != UInt8(ascii: " ") })
        // A space is a plus sign that a form post decoded, or indentation. Only one of the two gives a whole text.
        if spaces > 0, folded.map(isWhole) != true,
            let bytes = decoded(characters.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 })
        {
            return (bytes, .formDecoded)
        }
        return folded.map { ($0, usesURLAlphabet ? .urlAlphabet : .whiteSpace) }
    }

    /// Whether the bytes are exactly one element of DER, or one of BER of indefinite length (X.690, 8.1.3).
    public static func isWhole(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 1 else { return false }
        let first = Int(bytes[1])
        guard first != 0x80 else { return bytes.count > 4 && bytes.suffix(2) == [0, 0] }
        let lengthBytes = first < 0x80 ? 0 : first & 0x7F
        guard lengthBytes <= 4, bytes.count >= 2 + lengthBytes else { return false }
        let length = lengthBytes == 0 ? first : bytes[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) }
        return bytes.count == 2 + lengthBytes + length
    }

    /// Strict base64 with its padding supplied, which the URL alphabet leaves off.
    private static func decoded(_ characters: [UInt8]) -> [UInt8]? {
        let missing = (4 - characters.count % 4) % 4
        guard missing < 3 else { return nil }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: missing)
        return Base64Decoder.decode(characters + padding)
    }

    private static func isAlphabet(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
