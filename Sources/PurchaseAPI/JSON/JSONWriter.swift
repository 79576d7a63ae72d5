/// Writes JSON member by member, in the order of the calls.
///
/// Apple's answers have a fixed order of keys, and numbers beyond 2^53 beside numbers that are strings. Foundation's
/// encoder keeps neither the order nor this difference, and costs more (docs/decisions.md, 8). Foundation reads JSON.
public struct JSONWriter: Sendable {
    /// The JSON so far, in UTF-8.
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false
    /// The last interval with a known Pacific offset: the dates of a receipt are close together.
    var pacificStretch = PacificTime.Stretch.none

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
        var text = text
        text.withUTF8 { string($0) }
    }

    /// Writes a string whose text is there as UTF-8.
    public mutating func string(utf8: [UInt8]) {
        utf8.withUnsafeBufferPointer { string($0) }
    }

    private mutating func string(_ utf8: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        // Text without escapes, which is nearly all text, is copied in one piece.
        var run = 0
        while true {
            let end = Self.plainEnd(utf8, from: run)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[run..<end]))
            guard end < utf8.count else { break }
            escape(utf8[end])
            run = end + 1
        }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// The offset of the first byte that needs an escape.
    private static func plainEnd(_ utf8: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let raw = UnsafeRawBufferPointer(utf8)
        var position = start
        while position + 16 <= raw.count {
            let block = raw.loadUnaligned(fromByteOffset: position, as: SIMD16<UInt8>.self)
            let special =
                mask(block .< SIMD16(repeating: 0x20)) | mask(block .== SIMD16(repeating: 0x22))
                | mask(block .== SIMD16(repeating: 0x5C))
            let words = unsafeBitCast(special, to: SIMD2<UInt64>.self)
            guard words[0] | words[1] == 0 else { break }
            position += 16
        }
        while position < raw.count, raw[position] >= 0x20, raw[position] != 0x22, raw[position] != 0x5C {
            position += 1
        }
        return position
    }

    /// Whole vectors only: operations on masks are not inlined.
    @inline(__always)
    private static func mask(_ mask: SIMDMask<SIMD16<Int8>>) -> SIMD16<UInt8> {
        unsafeBitCast(mask, to: SIMD16<UInt8>.self)
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
        if let number = UInt64(exactly: number) {
            append(number)
        } else {
            bytes += Array(String(number).utf8)
        }
        needsComma = true
    }

    /// Writes `true` or `false`.
    public mutating func boolean(_ value: Bool) {
        bytes += Array((value ? "true" : "false").utf8)
        needsComma = true
    }

    /// Writes existing JSON in one line: line breaks can only be between its tokens.
    public mutating func json(_ json: [UInt8]) {
        for byte in json { bytes.append(byte == 0x0A || byte == 0x0D ? 0x20 : byte) }
        needsComma = true
    }

    /// Repeats a whole value that was written before, from its position in `bytes`.
    mutating func again(_ value: Range<Int>) {
        // A copy of the piece: a slice would share the array, and all of it would be copied for the append.
        bytes += Array(bytes[value])
        needsComma = true
    }

    /// Writes `null`.
    public mutating func null() {
        bytes += Array("null".utf8)
        needsComma = true
    }

    /// Writes a number as a string of its digits.
    mutating func digits(_ number: UInt64) {
        bytes.append(UInt8(ascii: "\""))
        append(number)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes text that needs no escaping.
    mutating func plainString(_ text: StaticString) {
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes ASCII that needs no escaping, between quotes.
    mutating func plainString(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    private mutating func append(_ number: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var first = 20
            var rest = number
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[first...]))
        }
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

extension JSONWriter {
    /// A text member, omitted if it is nil.
    mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        string(text)
    }

    /// A number as a number; absent is `null`.
    mutating func numberMember(_ name: StaticString, _ value: UInt64?) {
        key(name)
        if let value { number(value) } else { null() }
    }

    /// A number as a string, omitted if it is nil.
    mutating func digitsMember(_ name: StaticString, _ value: UInt64?) {
        guard let value else { return }
        key(name)
        digits(value)
    }

    /// A boolean as a string, omitted if it is nil.
    mutating func flagMember(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        plainString(value ? "true" : "false")
    }

    /// A boolean as the string `1` or `0`, omitted if it is nil.
    mutating func bitMember(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        plainString(value ? "1" : "0")
    }
}
