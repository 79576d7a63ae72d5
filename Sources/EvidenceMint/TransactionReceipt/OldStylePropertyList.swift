/// Writes dictionaries in the old style of property lists (ASCII, from NeXTSTEP), laid out as Apple's receipts are: a
/// tab before each entry, a line for each, quotes around keys and values, nothing after the last brace.
enum OldStylePropertyList {
    struct Entry {
        let key: String
        let value: Value

        init(_ key: String, _ text: String) {
            self.key = key
            value = .text(text)
        }

        init(_ key: String, raw: [UInt8]) {
            self.key = key
            value = .raw(raw)
        }
    }

    enum Value {
        /// Written between quotes.
        case text(String)
        /// Written unchanged.
        case raw([UInt8])
    }

    static func dictionary(_ entries: [Entry]) -> [UInt8] {
        var bytes = Array("{\n".utf8)
        for entry in entries {
            bytes.append(UInt8(ascii: "\t"))
            append(entry.key, to: &bytes)
            bytes += Array(" = ".utf8)
            switch entry.value {
            case .text(let text): append(text, to: &bytes)
            case .raw(let raw): bytes += raw
            }
            bytes += Array(";\n".utf8)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    static func nestedLists(depth: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: "("), count: depth) + [UInt8](repeating: UInt8(ascii: ")"), count: depth)
    }

    /// Quotes and backslashes are escaped with a backslash. No value of a genuine receipt is known to need one.
    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                bytes.append(UInt8(ascii: "\\"))
            }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
