/// The check that JSON from outside passes before a decoder reads it: that it is well-formed (RFC 8259), and that it stays
/// within the limits of `VerificationBudget`.
///
/// A decoder hashes the names of members as `String`, which takes quadratic time for text that Unicode has to reorder. So a name
/// is ASCII without escapes, and short. Decoders differ in what they make of two equal members, of half a surrogate pair, or of a
/// comma before a closing brace; here all of these are refused, so that whoever reads the JSON reads the same.
public enum JSONBounds {
    /// Checks JSON in one pass whose time grows with its size and with nothing else.
    ///
    /// - Parameter json: the bytes, UTF-8 without a byte order mark.
    /// - Returns: what was expected where the check fails, in words; `nil` where it passes.
    public static func excess(of json: Span<UInt8>) -> String? {
        var check = JSONCheck()
        do throws(JSONCheck.Failure) {
            try check.document(json)
            return nil
        } catch {
            return error.expected
        }
    }

    /// Checks JSON in an array: `Array.span` needs newer systems than the package.
    public static func excess(of json: [UInt8]) -> String? {
        let slice = json[...]
        return excess(of: slice.span)
    }
}

/// One pass over a JSON document.
private struct JSONCheck {
    private var position = 0
    private var values = 0
    /// The arrays and objects around the position, outermost first.
    private var levels: [Level] = []
    /// The names of the members that these objects have so far.
    private var names: [Range<Int>] = []

    private struct Level {
        let isObject: Bool
        /// Where its names begin in `names`.
        let firstName: Int
        var isEmpty = true
        /// A one-word Bloom filter of its names; names are compared only on a hit.
        var filter: UInt64 = 0
    }

    struct Failure: Error {
        let expected: String
    }

    init() {
        levels.reserveCapacity(VerificationBudget.jsonDepth)
        // A transaction has some 30.
        names.reserveCapacity(40)
    }

    mutating func document(_ json: Span<UInt8>) throws(Failure) {
        try value(json)
        while let level = levels.last {
            skipWhiteSpace(json)
            if isNext(level.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"), json) {
                position += 1
                names.removeLast(names.count - level.firstName)
                levels.removeLast()
                continue
            }
            if level.isEmpty {
                levels[levels.count - 1].isEmpty = false
            } else {
                guard isNext(UInt8(ascii: ","), json) else { throw failure("a comma or the end of the list") }
                position += 1
            }
            if level.isObject { try name(json) }
            try value(json)
        }
        skipWhiteSpace(json)
        guard position == json.count else { throw failure("nothing behind the value") }
    }

    /// Passes over a whole value, or over the bracket that opens one.
    private mutating func value(_ json: Span<UInt8>) throws(Failure) {
        skipWhiteSpace(json)
        guard position < json.count else { throw failure("a value") }
        values += 1
        guard values <= VerificationBudget.jsonValues else {
            throw Failure(expected: "at most \(VerificationBudget.jsonValues) values in JSON")
        }
        switch json[position] {
        case UInt8(ascii: "\""): try string(json)
        case UInt8(ascii: "{"): try open(isObject: true)
        case UInt8(ascii: "["): try open(isObject: false)
        case UInt8(ascii: "t"): try literal("true", json)
        case UInt8(ascii: "f"): try literal("false", json)
        case UInt8(ascii: "n"): try literal("null", json)
        default: try number(json)
        }
    }

    private mutating func open(isObject: Bool) throws(Failure) {
        guard levels.count < VerificationBudget.jsonDepth else {
            throw Failure(expected: "at most \(VerificationBudget.jsonDepth) levels of JSON")
        }
        position += 1
        levels.append(Level(isObject: isObject, firstName: names.count))
    }

    /// Passes over a member's name and the colon behind it.
    private mutating func name(_ json: Span<UInt8>) throws(Failure) {
        skipWhiteSpace(json)
        guard isNext(UInt8(ascii: "\""), json) else { throw failure("a member name in quotes") }
        let start = position + 1
        let end = json.endOfPlainText(from: start)
        guard end < json.count, json[end] == UInt8(ascii: "\"") else {
            throw failure("a member name of ASCII characters without escapes")
        }
        guard end - start <= VerificationBudget.jsonNameBytes else {
            throw Failure(expected: "member names of at most \(VerificationBudget.jsonNameBytes) bytes in JSON")
        }
        try requireNew(start..<end, json)
        position = end + 1
        skipWhiteSpace(json)
        guard isNext(UInt8(ascii: ":"), json) else { throw failure("a colon behind the member name") }
        position += 1
    }

    /// Checks that the innermost object has no member of this name yet, and notes it.
    private mutating func requireNew(_ name: Range<Int>, _ json: Span<UInt8>) throws(Failure) {
        let last = levels.count - 1
        let level = levels[last]
        guard names.count - level.firstName < VerificationBudget.jsonMembers else {
            throw Failure(expected: "at most \(VerificationBudget.jsonMembers) members in an object of JSON")
        }
        let mark = Self.mark(of: name, json)
        if level.filter & mark != 0, isKnown(name, from: level.firstName, json) {
            throw failure("each member of an object once")
        }
        levels[last].filter = level.filter | mark
        names.append(name)
    }

    private func isKnown(_ name: Range<Int>, from first: Int, _ json: Span<UInt8>) -> Bool {
        for known in names[first...] where json.isEqual(known, name) { return true }
        return false
    }

    /// The same bit for the same name.
    @inline(__always)
    private static func mark(of name: Range<Int>, _ json: Span<UInt8>) -> UInt64 {
        guard let last = name.last else { return 1 }
        return 1 << UInt64((Int(json[name.lowerBound]) &+ Int(json[last]) &* 7 &+ name.count &* 5) & 63)
    }

    /// Passes over a string, from its opening quote to behind its closing one.
    private mutating func string(_ json: Span<UInt8>) throws(Failure) {
        position += 1
        while true {
            position = json.endOfPlainText(from: position)
            guard position < json.count else { throw failure("a closing quote") }
            switch json[position] {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): try escape(json)
            case 0..<0x20: throw failure("control characters written as escapes")
            default:
                guard let length = json.lengthOfCharacter(at: position) else { throw failure("UTF-8") }
                position += length
            }
        }
    }

    private mutating func escape(_ json: Span<UInt8>) throws(Failure) {
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

    /// The UTF-16 code unit of `\uXXXX`; `nil` where none is written there.
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

    private mutating func literal(_ word: StaticString, _ json: Span<UInt8>) throws(Failure) {
        let count = word.utf8CodeUnitCount
        guard position + count <= json.count, isEqual(word, json) else { throw failure("a value") }
        position += count
    }

    private func isEqual(_ word: StaticString, _ json: Span<UInt8>) -> Bool {
        word.withUTF8Buffer { characters in
            for (offset, character) in characters.enumerated() where json[position + offset] != character {
                return false
            }
            return true
        }
    }

    /// Passes over a number (RFC 8259, 6).
    private mutating func number(_ json: Span<UInt8>) throws(Failure) {
        let start = position
        if isNext(UInt8(ascii: "-"), json) { position += 1 }
        if isNext(UInt8(ascii: "0"), json) {
            position += 1
        } else {
            try digits(json)
        }
        if isNext(UInt8(ascii: "."), json) {
            position += 1
            try digits(json)
        }
        if isNext(UInt8(ascii: "e"), json) || isNext(UInt8(ascii: "E"), json) {
            position += 1
            if isNext(UInt8(ascii: "+"), json) || isNext(UInt8(ascii: "-"), json) { position += 1 }
            try digits(json)
        }
        guard position - start <= VerificationBudget.jsonNumberBytes else {
            throw Failure(expected: "numbers of at most \(VerificationBudget.jsonNumberBytes) bytes in JSON")
        }
    }

    private mutating func digits(_ json: Span<UInt8>) throws(Failure) {
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

    private func failure(_ words: String) -> Failure { Failure(expected: "\(words) at offset \(position) of the JSON") }
}
