/// Writes JSON member by member, in the order in which it is told.
///
/// Apple's answers have a fixed order of keys, and numbers beyond 2^53 beside numbers that are strings. Foundation's encoder
/// keeps neither an order nor the difference at this cost (docs/decisions.md, 8). Reading is Foundation's.
public struct JSONWriter: Sendable {
    /// The JSON so far, in UTF-8.
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// - Parameter capacity: how many bytes to set aside.
    public init(capacity: Int = 1024) {
        bytes.reserveCapacity(capacity)
    }

    /// Writes an object, whose members the closure writes.
    public mutating func object(_ members: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        members(&self)
        close(UInt8(ascii: "}"))
    }

    /// Writes an array with an element for each item.
    public mutating func array<Items: Sequence>(_ items: Items, _ element: (inout JSONWriter, Items.Element) -> Void) {
        open(UInt8(ascii: "["))
        for item in items {
            separate()
            element(&self, item)
            needsComma = true
        }
        close(UInt8(ascii: "]"))
    }

    /// Begins a member; its value follows with the next call.
    public mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Begins a member whose name is not known beforehand.
    public mutating func key(_ name: String) {
        separate()
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string (RFC 8259, 7).
    public mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            // What needs no escape, which is nearly everything, is taken over in one piece.
            var run = 0
            for (index, byte) in utf8.enumerated()
            where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[run..<index]))
                escape(byte)
                run = index + 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[run...]))
        }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case 0x0A: bytes += Array("\\n".utf8)
        case 0x0D: bytes += Array("\\r".utf8)
        case 0x09: bytes += Array("\\t".utf8)
        case 0x00..<0x20: bytes += Array((byte < 0x10 ? "\\u000" : "\\u00").utf8) + String(byte, radix: 16).utf8
        default: bytes += [UInt8(ascii: "\\"), byte]
        }
    }

    /// Writes a number.
    public mutating func number(_ number: some BinaryInteger) {
        bytes += Array(String(number).utf8)
        needsComma = true
    }

    /// Writes `true` or `false`.
    public mutating func boolean(_ value: Bool) {
        bytes += Array((value ? "true" : "false").utf8)
        needsComma = true
    }

    /// Writes JSON that is there already, in one line: line ends can only stand between its parts.
    public mutating func json(_ json: [UInt8]) {
        for byte in json { bytes.append(byte == 0x0A || byte == 0x0D ? 0x20 : byte) }
        needsComma = true
    }

    /// Writes `null`.
    public mutating func null() {
        bytes += Array("null".utf8)
        needsComma = true
    }

    /// Writes ASCII that needs no escaping, between quotes.
    mutating func plainString(_ write: (inout [UInt8]) -> Void) {
        bytes.append(UInt8(ascii: "\""))
        write(&bytes)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = false
    }
}
