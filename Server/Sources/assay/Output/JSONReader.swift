/// Reads JSON byte by byte (RFC 8259).
struct JSONReader {
    private let json: [UInt8]
    private let isTolerant: Bool
    private var position = 0
    private var values = 0

    init(_ json: [UInt8], isTolerant: Bool) {
        self.json = json
        self.isTolerant = isTolerant
    }

    /// The whole text; nil if it is not JSON, or exceeds a limit of `JSONValue`.
    mutating func document() -> JSONValue? {
        if isTolerant, json.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        guard let value = value(depth: 0) else { return nil }
        skipWhiteSpace()
        return position == json.count ? value : nil
    }

    private mutating func value(depth: Int) -> JSONValue? {
        values += 1
        guard depth < JSONValue.depthLimit, values <= JSONValue.valueLimit else { return nil }
        skipWhiteSpace()
        switch byte {
        case UInt8(ascii: "{"): return object(depth: depth)
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "\""): return string().map(JSONValue.string)
        case UInt8(ascii: "t"): return take("true") ? .boolean(true) : nil
        case UInt8(ascii: "f"): return take("false") ? .boolean(false) : nil
        case UInt8(ascii: "n"): return take("null") ? .null : nil
        default: return number().map(JSONValue.number)
        }
    }

    private mutating func object(depth: Int) -> JSONValue? {
        var members: [JSONValue.Member] = []
        position += 1
        while true {
            if takeEnd(UInt8(ascii: "}"), isAllowed: members.isEmpty || isTolerant) { return .object(members) }
            guard let name = string() else { return nil }
            skipWhiteSpace()
            guard take(":"), let value = value(depth: depth + 1) else { return nil }
            members.append(JSONValue.Member(name: name, value: value))
            guard let isLast = takeSeparator(UInt8(ascii: "}")) else { return nil }
            if isLast { return .object(members) }
        }
    }

    private mutating func array(depth: Int) -> JSONValue? {
        var elements: [JSONValue] = []
        position += 1
        while true {
            if takeEnd(UInt8(ascii: "]"), isAllowed: elements.isEmpty || isTolerant) { return .array(elements) }
            guard let element = value(depth: depth + 1) else { return nil }
            elements.append(element)
            guard let isLast = takeSeparator(UInt8(ascii: "]")) else { return nil }
            if isLast { return .array(elements) }
        }
    }

    /// Takes the bracket that ends an object or array before another element.
    private mutating func takeEnd(_ bracket: UInt8, isAllowed: Bool) -> Bool {
        skipWhiteSpace()
        guard byte == bracket, isAllowed else { return false }
        position += 1
        return true
    }

    /// Reads the token after an element: a comma, or the closing bracket (`true`).
    private mutating func takeSeparator(_ bracket: UInt8) -> Bool? {
        skipWhiteSpace()
        guard byte == bracket || byte == UInt8(ascii: ",") else { return nil }
        position += 1
        return json[position - 1] == bracket
    }

    /// A string without its quotes and escapes. Bytes that are not UTF-8, and halves of surrogate pairs, become U+FFFD.
    private mutating func string() -> [UInt8]? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return Array(String(decoding: text, as: UTF8.self).utf8)
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                text += escaped
            case 0..<0x20 where !isTolerant: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    /// The character of an escape, starting after its backslash.
    private mutating func escape() -> [UInt8]? {
        guard let byte else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            guard var unit = hexadecimals() else { return nil }
            var units = [unit]
            // A high surrogate is a scalar only with a low surrogate after it.
            let next = position
            if UTF16.isLeadSurrogate(unit), take("\\u") {
                guard let second = hexadecimals() else { return nil }
                unit = second
                if UTF16.isTrailSurrogate(unit) { units.append(unit) } else { position = next }
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        default: return nil
        }
    }

    private mutating func hexadecimals() -> UInt16? {
        guard json.count - position >= 4 else { return nil }
        var unit: UInt16 = 0
        for byte in json[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        position += 4
        return unit
    }

    /// A number: an optional minus, digits without a leading zero, a fraction, an exponent.
    private mutating func number() -> [UInt8]? {
        let start = position
        _ = take("-")
        let digits = position
        guard takeDigits(), json[digits] != UInt8(ascii: "0") || position == digits + 1 else { return nil }
        if take("."), !takeDigits() { return nil }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard takeDigits() else { return nil }
        }
        return Array(json[start..<position])
    }

    private mutating func takeDigits() -> Bool {
        let start = position
        while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }

    private mutating func take(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard json.count - position >= count,
            word.withUTF8Buffer({ json[position..<position + count].elementsEqual($0) })
        else { return false }
        position += count
        return true
    }

    private mutating func skipWhiteSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private var byte: UInt8? { position < json.count ? json[position] : nil }
}
