/// Writes JSON from front to back, without white space. The caller writes the keys in order.
struct JSONText {
    private(set) var bytes: [UInt8] = []
    /// Whether the next member or element is the first of its object or list.
    private var isFirst = true

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func open() {
        bytes.append(UInt8(ascii: "{"))
        isFirst = true
    }

    mutating func close() {
        bytes.append(UInt8(ascii: "}"))
        isFirst = false
    }

    mutating func key(_ key: StaticString) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(UInt8(ascii: "\""))
        bytes += UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func list<Element>(_ elements: [Element], _ write: (inout JSONText, Element) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
        isFirst = false
    }

    mutating func strings(_ texts: [String]) {
        list(texts) { json, text in json.append(text) }
    }

    mutating func add(_ key: StaticString, _ text: String?) {
        guard let text else { return }
        self.key(key)
        append(text)
    }

    private mutating func append(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            if utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
                bytes += utf8
            } else {
                for byte in utf8 { append(escaped: byte) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func add(_ key: StaticString, _ number: Int64?) {
        guard let number else { return }
        self.key(key)
        bytes += String(number).utf8
    }

    mutating func add(_ key: StaticString, _ flag: Bool) {
        self.key(key)
        bytes += (flag ? "true" : "false").utf8
    }

    /// RFC 8259, section 7.
    private mutating func append(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): bytes += #"\""#.utf8
        case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
        case 0x08: bytes += #"\b"#.utf8
        case 0x09: bytes += #"\t"#.utf8
        case 0x0A: bytes += #"\n"#.utf8
        case 0x0C: bytes += #"\f"#.utf8
        case 0x0D: bytes += #"\r"#.utf8
        case 0..<0x20:
            bytes += #"\u00"#.utf8
            bytes += [byte].hexadecimal.utf8
        default: bytes.append(byte)
        }
    }
}
