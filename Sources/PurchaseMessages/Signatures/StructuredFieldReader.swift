import Foundation

extension StructuredDictionary {
    /// Reads the text of a field (RFC 9651, 4.2.2). Names that occur twice are refused, because it would be ambiguous
    /// which of the two signatures counts.
    ///
    /// - Returns: `nil` if it is malformed, or larger than the limits.
    public init?(_ text: String) {
        // The length first: the text comes from outside.
        guard text.utf8.count <= StructuredFieldReader.bytes else { return nil }
        var reader = StructuredFieldReader(text)
        guard let members = reader.dictionary() else { return nil }
        self.members = members
    }
}

/// Reads structured fields within limits. Each method returns `nil` for malformed text.
struct StructuredFieldReader {
    /// The longest field. The five components of an answer's signature take 300 bytes.
    static let bytes = 4096
    /// The largest number of members, of items in a list, and of parameters: each takes at least two bytes of
    /// comparison with the others, so the work stays small.
    static let elements = 16

    private let text: [UInt8]
    private var position = 0

    init(_ text: String) { self.text = Array(text.utf8) }

    mutating func dictionary() -> [StructuredDictionary.Member]? {
        var members: [StructuredDictionary.Member] = []
        skipSpaces()
        while next != nil {
            guard members.count < Self.elements, let name = key(), !members.contains(where: { $0.name == name }),
                let value = take("=") ? member() : boolean()
            else { return nil }
            members.append(StructuredDictionary.Member(name: name, value: value))
            skipSpaces(andTabs: true)
            guard next != nil else { return members }
            guard take(",") else { return nil }
            skipSpaces(andTabs: true)
            // A comma at the end.
            guard next != nil else { return nil }
        }
        return members
    }

    /// A member without a value is `true`.
    private mutating func boolean() -> StructuredMember? {
        parameters().map { .item(StructuredItem(.boolean(true), parameters: $0)) }
    }

    private mutating func member() -> StructuredMember? {
        guard take("(") else { return item().map { .item($0) } }
        var items: [StructuredItem] = []
        while true {
            skipSpaces()
            if take(")") { break }
            guard items.count < Self.elements, let item = item() else { return nil }
            items.append(item)
            guard next == UInt8(ascii: " ") || next == UInt8(ascii: ")") else { return nil }
        }
        return parameters().map { .list(items, parameters: $0) }
    }

    private mutating func item() -> StructuredItem? {
        guard let value = value(), let parameters = parameters() else { return nil }
        return StructuredItem(value, parameters: parameters)
    }

    private mutating func parameters() -> [StructuredParameter]? {
        var parameters: [StructuredParameter] = []
        while take(";") {
            skipSpaces()
            guard parameters.count < Self.elements, let name = key(), !parameters.contains(where: { $0.name == name })
            else { return nil }
            guard take("=") else {
                parameters.append(StructuredParameter(name))
                continue
            }
            guard let value = value() else { return nil }
            parameters.append(StructuredParameter(name, value))
        }
        return parameters
    }

    private mutating func value() -> StructuredValue? {
        guard let first = next else { return nil }
        switch first {
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: ":"): return byteSequence().map { .bytes($0) }
        case UInt8(ascii: "?"):
            position += 1
            return take("1") ? .boolean(true) : take("0") ? .boolean(false) : nil
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return integer().map { .integer($0) }
        case UInt8(ascii: "*"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
            return .token(taken { Self.isTokenByte($0) })
        default: return nil
        }
    }

    /// At most 15 digits (RFC 9651, 3.3.1), so it cannot overflow.
    private mutating func integer() -> Int64? {
        let isNegative = take("-")
        let digits = taken { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard (1...15).contains(digits.utf8.count), next != UInt8(ascii: "."), let number = Int64(digits) else {
            return nil
        }
        return isNegative ? -number : number
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = next, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    return nil
                }
                position += 1
                bytes.append(escaped)
            case 0x20...0x7E: bytes.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func byteSequence() -> [UInt8]? {
        guard take(":") else { return nil }
        let base64 = taken { $0 != UInt8(ascii: ":") && (0x21...0x7E).contains($0) }
        guard take(":"), let data = Data(base64Encoded: base64) else { return nil }
        return [UInt8](data)
    }

    private mutating func key() -> String? {
        guard let first = next, first == UInt8(ascii: "*") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first)
        else { return nil }
        return taken { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"):
                true
            default: false
            }
        }
    }

    /// RFC 9651, 3.3.4, and RFC 9110, 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~:/".utf8.contains(byte)
        }
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = next, UInt32(byte) == character.value else { return false }
        position += 1
        return true
    }

    private mutating func taken(while isTaken: (UInt8) -> Bool) -> String {
        let start = position
        while let byte = next, isTaken(byte) { position += 1 }
        return String(decoding: text[start..<position], as: UTF8.self)
    }

    private mutating func skipSpaces(andTabs: Bool = false) {
        while let byte = next, byte == 0x20 || (andTabs && byte == 0x09) { position += 1 }
    }
}
