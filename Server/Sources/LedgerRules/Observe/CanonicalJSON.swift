import PurchaseVerification

/// JSON in canonical form: members sorted by the bytes of their names, no white space, and only the escapes that RFC
/// 8259 requires.
enum CanonicalJSON {
    /// The limit for the other claims in facts, in bytes. Apple's have a few hundred; the evidence keeps all of them.
    static let otherClaimsBytes = 8192

    /// The claims that have no field in the facts.
    ///
    /// - Returns: `nil` if there are none, or if they exceed the limit.
    static func otherClaims(_ claims: [String: JSONValue]) -> [UInt8]? {
        guard !claims.isEmpty else { return nil }
        var bytes: [UInt8] = []
        write(.object(claims), to: &bytes)
        return bytes.count <= otherClaimsBytes ? bytes : nil
    }

    private static func write(_ value: JSONValue, to bytes: inout [UInt8]) {
        switch value {
        case .null: bytes += "null".utf8
        case .boolean(let flag): bytes += (flag ? "true" : "false").utf8
        case .integer(let number): bytes += "\(number)".utf8
        case .number(let number): bytes += "\(number)".utf8
        case .string(let text): write(text, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (place, value) in values.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                write(value, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (place, member) in sorted.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                write(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                write(member.value, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += Array("\\u00\([byte].hexadecimal)".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
