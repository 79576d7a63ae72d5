/// One pass over a JSON document. It notes the position of each value, so that the bytes are not scanned again.
struct JSONScanner {
    private var position = 0
    private var nodes: [JSONNode] = []
    /// The arrays and objects around the position, outermost first.
    private var levels: [Level] = []

    private struct Level {
        /// Its place in `nodes`.
        let node: Int
        let isObject: Bool
        /// The number of elements or members so far.
        var count = 0
        /// A one-word Bloom filter of its names; names are compared only on a hit.
        var filter: UInt64 = 0
    }

    private init() {
        levels.reserveCapacity(VerificationBudget.jsonDepth)
        // A transaction has some 30.
        nodes.reserveCapacity(40)
    }

    /// The values of a document in its order, the outermost first. There is one at least.
    static func nodes(of json: Span<UInt8>) throws(StrictJSON.Flaw) -> [JSONNode] {
        var scanner = JSONScanner()
        try scanner.document(json)
        return scanner.nodes
    }

    private mutating func document(_ json: Span<UInt8>) throws(StrictJSON.Flaw) {
        // Nodes count offsets in 32 bits; no budget is near that.
        guard json.count < UInt32.max else { throw StrictJSON.Flaw(expected: "JSON of less than 4 GB") }
        // Some writers begin UTF-8 with a byte order mark, which a parser may ignore (RFC 8259, section 8.1).
        if json.count >= 3, json[0] == 0xEF, json[1] == 0xBB, json[2] == 0xBF { position = 3 }
        try value(json, name: 0..<0)
        while let level = levels.last {
            skipWhiteSpace(json)
            if isNext(level.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"), json) {
                position += 1
                nodes[level.node].next = UInt32(truncatingIfNeeded: nodes.count)
                levels.removeLast()
                continue
            }
            if level.count > 0 {
                guard isNext(UInt8(ascii: ","), json) else { throw failure("a comma or the end of the list") }
                position += 1
            }
            let name = level.isObject ? try name(json) : 0..<0
            levels[levels.count - 1].count += 1
            try value(json, name: name)
        }
        skipWhiteSpace(json)
        guard position == json.count else { throw failure("nothing behind the value") }
    }

    /// Notes a whole value, or the bracket that opens one.
    private mutating func value(_ json: Span<UInt8>, name: Range<Int>) throws(StrictJSON.Flaw) {
        skipWhiteSpace(json)
        guard position < json.count else { throw failure("a value") }
        guard nodes.count < VerificationBudget.jsonValues else {
            throw StrictJSON.Flaw(expected: "at most \(VerificationBudget.jsonValues) values in JSON")
        }
        let start = position
        let kind: JSONNode.Kind
        switch json[position] {
        case UInt8(ascii: "\""): kind = try string(json)
        case UInt8(ascii: "{"): kind = try open(isObject: true)
        case UInt8(ascii: "["): kind = try open(isObject: false)
        case UInt8(ascii: "t"): kind = try literal("true", .true, json)
        case UInt8(ascii: "f"): kind = try literal("false", .false, json)
        case UInt8(ascii: "n"): kind = try literal("null", .null, json)
        default: kind = try number(json)
        }
        nodes.append(JSONNode(kind, name: name, text: start..<position, next: nodes.count + 1))
    }

    private mutating func open(isObject: Bool) throws(StrictJSON.Flaw) -> JSONNode.Kind {
        guard levels.count < VerificationBudget.jsonDepth else {
            throw StrictJSON.Flaw(expected: "at most \(VerificationBudget.jsonDepth) levels of JSON")
        }
        position += 1
        levels.append(Level(node: nodes.count, isObject: isObject))
        return isObject ? .object : .array
    }

    /// Skips a member's name and the colon after it.
    private mutating func name(_ json: Span<UInt8>) throws(StrictJSON.Flaw) -> Range<Int> {
        skipWhiteSpace(json)
        guard isNext(UInt8(ascii: "\""), json) else { throw failure("a member name in quotes") }
        let start = position + 1
        let end = json.endOfPlainText(from: start)
        guard end < json.count, json[end] == UInt8(ascii: "\"") else {
            throw failure("a member name of ASCII characters without escapes")
        }
        guard end - start <= VerificationBudget.jsonNameBytes else {
            throw StrictJSON.Flaw(expected: "member names of at most \(VerificationBudget.jsonNameBytes) bytes in JSON")
        }
        try requireNew(start..<end, json)
        position = end + 1
        skipWhiteSpace(json)
        guard isNext(UInt8(ascii: ":"), json) else { throw failure("a colon behind the member name") }
        position += 1
        return start..<end
    }

    /// Checks that the innermost object has no member of this name yet.
    private mutating func requireNew(_ name: Range<Int>, _ json: Span<UInt8>) throws(StrictJSON.Flaw) {
        let last = levels.count - 1
        let level = levels[last]
        guard level.count < VerificationBudget.jsonMembers else {
            throw StrictJSON.Flaw(expected: "at most \(VerificationBudget.jsonMembers) members in an object of JSON")
        }
        let mark = Self.mark(of: name, json)
        if level.filter & mark != 0, isKnown(name, in: level.node, json) {
            throw failure("each member of an object once")
        }
        levels[last].filter = level.filter | mark
    }

    private func isKnown(_ name: Range<Int>, in object: Int, _ json: Span<UInt8>) -> Bool {
        var member = object + 1
        while member < nodes.count {
            if json.isEqual(nodes[member].name, name) { return true }
            member = Int(nodes[member].next)
        }
        return false
    }

    /// The same bit for the same name.
    @inline(__always)
    private static func mark(of name: Range<Int>, _ json: Span<UInt8>) -> UInt64 {
        guard let last = name.last else { return 1 }
        return 1 << UInt64((Int(json[name.lowerBound]) &+ Int(json[last]) &* 7 &+ name.count &* 5) & 63)
    }

    /// Skips a string, including both quotes.
    private mutating func string(_ json: Span<UInt8>) throws(StrictJSON.Flaw) -> JSONNode.Kind {
        position += 1
        var kind = JSONNode.Kind.string
        while true {
            position = json.endOfPlainText(from: position)
            guard position < json.count else { throw failure("a closing quote") }
            switch json[position] {
            case UInt8(ascii: "\""):
                position += 1
                return kind
            case UInt8(ascii: "\\"):
                try escape(json)
                kind = .escapedString
            case 0..<0x20: throw failure("control characters written as escapes")
            default:
                guard let length = json.lengthOfCharacter(at: position) else { throw failure("UTF-8") }
                position += length
            }
        }
    }

    private mutating func escape(_ json: Span<UInt8>) throws(StrictJSON.Flaw) {
        guard position + 1 < json.count else { throw failure("an escape") }
        switch json[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let unit = codeUnit(json, at: position)
            switch unit {
            case .some(0xD800...0xDBFF):
                // The first half of a pair; the other one must follow.
                guard let second = codeUnit(json, at: position + 6), (0xDC00...0xDFFF).contains(second) else {
                    throw failure("both halves of a surrogate pair")
                }
                position += 12
            case nil, .some(0xDC00...0xDFFF): throw failure("an escape that stands for a character")
            default: position += 6
            }
        default: throw failure("an escape that JSON has")
        }
    }

    /// The UTF-16 code unit of `\uXXXX`; `nil` if there is none.
    private func codeUnit(_ json: Span<UInt8>, at start: Int) -> UInt32? {
        guard start + 6 <= json.count, json[start] == UInt8(ascii: "\\"), json[start + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var unit: UInt32 = 0
        for offset in (start + 2)..<(start + 6) {
            switch json[offset] {
            case let digit where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit):
                unit = unit << 4 | UInt32(digit - UInt8(ascii: "0"))
            case let digit where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit | 0x20):
                unit = unit << 4 | UInt32((digit | 0x20) - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return unit
    }

    private mutating func literal(
        _ word: StaticString, _ kind: JSONNode.Kind, _ json: Span<UInt8>
    ) throws(StrictJSON.Flaw) -> JSONNode.Kind {
        let count = word.utf8CodeUnitCount
        guard position + count <= json.count, isEqual(word, json) else { throw failure("a value") }
        position += count
        return kind
    }

    private func isEqual(_ word: StaticString, _ json: Span<UInt8>) -> Bool {
        word.withUTF8Buffer { characters in
            for (offset, character) in characters.enumerated() where json[position + offset] != character {
                return false
            }
            return true
        }
    }

    /// Skips a number (RFC 8259, 6).
    private mutating func number(_ json: Span<UInt8>) throws(StrictJSON.Flaw) -> JSONNode.Kind {
        let start = position
        var kind = JSONNode.Kind.integer
        if isNext(UInt8(ascii: "-"), json) { position += 1 }
        if isNext(UInt8(ascii: "0"), json) {
            position += 1
        } else {
            try digits(json)
        }
        if isNext(UInt8(ascii: "."), json) {
            position += 1
            kind = .number
            try digits(json)
        }
        if isNext(UInt8(ascii: "e"), json) || isNext(UInt8(ascii: "E"), json) {
            position += 1
            kind = .number
            if isNext(UInt8(ascii: "+"), json) || isNext(UInt8(ascii: "-"), json) { position += 1 }
            try digits(json)
        }
        guard position - start <= VerificationBudget.jsonNumberBytes else {
            throw StrictJSON.Flaw(expected: "numbers of at most \(VerificationBudget.jsonNumberBytes) bytes in JSON")
        }
        return kind
    }

    private mutating func digits(_ json: Span<UInt8>) throws(StrictJSON.Flaw) {
        let start = position
        while position < json.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(json[position]) { position += 1 }
        guard position > start else { throw failure("a value") }
    }

    private func isNext(_ byte: UInt8, _ json: Span<UInt8>) -> Bool { position < json.count && json[position] == byte }

    private mutating func skipWhiteSpace(_ json: Span<UInt8>) {
        while position < json.count {
            switch json[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private func failure(_ words: String) -> StrictJSON.Flaw {
        StrictJSON.Flaw(expected: "\(words) at offset \(position) of the JSON")
    }
}
