extension Collection<UInt8> {
    /// Whether it equals a text, ignoring the case of ASCII letters. Swift's own comparison of strings normalises
    /// Unicode, in quadratic time for hostile text; this one reads each byte once.
    func isEqual(ignoringCase lowercase: StaticString) -> Bool {
        lowercase.withUTF8Buffer { other in
            count == other.count && zip(self, other).allSatisfy { Self.lowercased($0) == $1 }
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
