/// Base64 as clients send it (RFC 4648): decoded strictly first, and if that fails with the known repairs. The result
/// names each repair.
enum Base64Text {
    /// Whether all of the first bytes could be base64 in one of its encodings.
    static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        for byte in bytes.prefix(16) where !isAlphabet(byte) && !isWhiteSpace(byte) && byte != UInt8(ascii: "=") {
            return false
        }
        return true
    }

    /// The text without white space at either end.
    static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        // Some editors put a byte order mark in front.
        let afterMark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = bytes[afterMark...].drop(while: isWhiteSpace)
        // Searched only in the text: before it, there could be a byte order mark followed by white space.
        guard let last = text.lastIndex(where: { !isWhiteSpace($0) }) else { return [] }
        return text[...last]
    }

    /// The decoded bytes and how they were written.
    ///
    /// - Throws: `base64_malformed`.
    static func decode(
        _ text: ArraySlice<UInt8>
    ) throws(VerificationError) -> (bytes: [UInt8], encoding: RecognizedEvidence.Encoding) {
        if let bytes = Base64Decoder.decode(text.span) { return (bytes, .base64) }
        return try repaired(text)
    }

    private static func repaired(
        _ text: ArraySlice<UInt8>
    ) throws(VerificationError) -> (bytes: [UInt8], encoding: RecognizedEvidence.Encoding) {
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
            return (bytes, .base64FormDecoded)
        }
        if let folded { return (folded, usesURLAlphabet ? .base64URL : .base64WithWhiteSpace) }
        throw VerificationError(.base64Malformed, found: "\(text.count) characters that do not decode")
    }

    /// Whether the bytes are exactly one element of DER or BER.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        if bytes.count > 4, bytes[1] == 0x80 { return bytes.suffix(2) == [0, 0] }
        let slice = bytes[...]
        let span = slice.span
        var cursor = DERCursor(0..<bytes.count)
        do throws(VerificationError) {
            _ = try cursor.next(span)
            return cursor.isAtEnd
        } catch {
            return false
        }
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
