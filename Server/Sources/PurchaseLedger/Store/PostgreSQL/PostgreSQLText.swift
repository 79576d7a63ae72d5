/// Translates the ledger's SQL into PostgreSQL's.
enum PostgreSQLText {
    /// Replaces `?1` by `$1`, and `x'00'` by a bytes literal. Quoted text is not changed.
    static func sql(_ portable: String) -> String {
        guard portable.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "'") }) else {
            return portable
        }
        var output: [UInt8] = []
        output.reserveCapacity(portable.utf8.count + 16)
        var isQuoted = false
        var isHexadecimal = false
        for byte in portable.utf8 {
            switch byte {
            case UInt8(ascii: "'"):
                if !isQuoted, output.last == UInt8(ascii: "x"), !Self.isWord(output.dropLast().last) {
                    output.removeLast()
                    output += Array("'\\x".utf8)
                    isHexadecimal = true
                } else {
                    output.append(byte)
                    if isQuoted, isHexadecimal {
                        output += Array("'::bytea".utf8.dropFirst())
                        isHexadecimal = false
                    }
                }
                isQuoted.toggle()
            case UInt8(ascii: "?") where !isQuoted: output.append(UInt8(ascii: "$"))
            default: output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func isWord(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
