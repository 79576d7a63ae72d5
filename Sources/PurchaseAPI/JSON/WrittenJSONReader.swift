/// Reads JSON (RFC 8259) into the places of its values.
struct WrittenJSONReader {
    private let bytes: [UInt8]
    private let bounds: WrittenJSON.Bounds
    private var position = 0
    private var nodes: [WrittenJSON.Node] = []

    init(_ bytes: [UInt8], _ bounds: WrittenJSON.Bounds) { (self.bytes, self.bounds) = (bytes, bounds) }

    /// The values of the whole text.
    mutating func read() throws(WrittenJSON.Flaw) -> [WrittenJSON.Node] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        try value(depth: 0)
        skipWhiteSpace()
        guard position == bytes.count else { throw .malformed(offset: position) }
        return nodes
    }

    private mutating func value(depth: Int) throws(WrittenJSON.Flaw) {
        skipWhiteSpace()
        guard position < bytes.count else { throw .malformed(offset: position) }
        switch bytes[position] {
        case UInt8(ascii: "{"): try object(depth: depth)
        case UInt8(ascii: "["): try array(depth: depth)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: throw .malformed(offset: position)
        }
    }

    private mutating func object(depth: Int) throws(WrittenJSON.Flaw) {
        let node = try open(.object, depth)
        var names: [Int] = []
        if !take(UInt8(ascii: "}")) {
            repeat {
                skipWhiteSpace()
                guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                    throw .malformed(offset: position)
                }
                names.append(nodes.count)
                try string()
                guard take(UInt8(ascii: ":")) else { throw .malformed(offset: position) }
                try value(depth: depth + 1)
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "}")) else { throw .malformed(offset: position) }
        }
        close(node)
        if let offset = duplicate(names) { throw .duplicateName(offset: offset) }
    }

    private mutating func array(depth: Int) throws(WrittenJSON.Flaw) {
        let node = try open(.array, depth)
        if !take(UInt8(ascii: "]")) {
            repeat { try value(depth: depth + 1) } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "]")) else { throw .malformed(offset: position) }
        }
        close(node)
    }

    private mutating func open(_ kind: WrittenJSON.Kind, _ depth: Int) throws(WrittenJSON.Flaw) -> Int {
        guard depth < bounds.depth else { throw .tooMuch("more than \(bounds.depth) levels") }
        try add(kind, position..<position + 1)
        position += 1
        return nodes.count - 1
    }

    private mutating func close(_ node: Int) {
        nodes[node].end = Int32(truncatingIfNeeded: position)
        nodes[node].next = Int32(truncatingIfNeeded: nodes.count)
    }

    private mutating func add(_ kind: WrittenJSON.Kind, _ range: Range<Int>) throws(WrittenJSON.Flaw) {
        guard nodes.count < bounds.values else { throw .tooMuch("more than \(bounds.values) values") }
        nodes.append(
            WrittenJSON.Node(
                kind: kind, start: Int32(truncatingIfNeeded: range.lowerBound),
                end: Int32(truncatingIfNeeded: range.upperBound), next: Int32(truncatingIfNeeded: nodes.count + 1)))
    }

    /// A string (RFC 8259, 7).
    private mutating func string() throws(WrittenJSON.Flaw) {
        let start = position
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return try add(.string, start..<position)
            case UInt8(ascii: "\\"): try escape()
            case 0x00..<0x20: throw .malformed(offset: position)
            default: position += 1
            }
        }
        throw .malformed(offset: position)
    }

    private mutating func escape() throws(WrittenJSON.Flaw) {
        guard position + 1 < bytes.count else { throw .malformed(offset: position) }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            guard position + 6 <= bytes.count,
                bytes[position + 2..<position + 6].allSatisfy({ Self.hexadecimal($0) != nil })
            else { throw .malformed(offset: position) }
            position += 6
        default: throw .malformed(offset: position)
        }
    }

    /// A number (RFC 8259, 6).
    private mutating func number() throws(WrittenJSON.Flaw) {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let first = position
        guard digits() > 0, bytes[first] != UInt8(ascii: "0") || position == first + 1 else {
            throw .malformed(offset: position)
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            guard digits() > 0 else { throw .malformed(offset: position) }
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            guard digits() > 0 else { throw .malformed(offset: position) }
        }
        try add(.number, start..<position)
    }

    /// Skips digits, and returns how many there were.
    private mutating func digits() -> Int {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        return position - start
    }

    private mutating func word(_ word: StaticString) throws(WrittenJSON.Flaw) {
        let length = word.utf8CodeUnitCount
        guard position + length <= bytes.count,
            word.withUTF8Buffer({ bytes[position..<position + length].elementsEqual($0) })
        else { throw .malformed(offset: position) }
        try add(.word, position..<position + length)
        position += length
    }

    /// Skips white space and the byte, if the byte follows it.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipWhiteSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipWhiteSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    /// The offset of a name that came before among the names of an object.
    private func duplicate(_ names: [Int]) -> Int? {
        let document = WrittenJSON(bytes: bytes, nodes: nodes)
        // Bytes, because the hash of strings normalises Unicode.
        var seen = Set<[UInt8]>(minimumCapacity: names.count)
        return names.first { !seen.insert(document.text(of: $0)).inserted }.map { Int(nodes[$0].start) }
    }

    /// The value of a hexadecimal digit.
    static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
