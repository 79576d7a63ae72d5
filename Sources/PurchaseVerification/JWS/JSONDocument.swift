/// A JSON document that passed `StrictJSON`, with its values read on access.
struct JSONDocument: Sendable {
    let bytes: [UInt8]
    /// In the order of the document, the outermost value first.
    let nodes: [JSONNode]

    /// - Throws: a description of what was expected, if the bytes are not JSON within the bounds.
    init(_ bytes: [UInt8]) throws(StrictJSON.Flaw) {
        self.bytes = bytes
        let slice = bytes[...]
        nodes = try JSONScanner.nodes(of: slice.span)
    }

    /// The text of a string; `nil` for any other value.
    func text(_ node: JSONNode) -> String? {
        switch node.kind {
        case .string: String(decoding: bytes[node.characters], as: UTF8.self)
        case .escapedString: JSONEscape.unescaped(bytes[node.characters])
        default: nil
        }
    }

    /// A truth value; `nil` for any other value.
    func boolean(_ node: JSONNode) -> Bool? {
        switch node.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// A whole number, however it is written: `1.0` and `1e3` are whole; `nil` for any other value.
    func integer<Number: FixedWidthInteger>(_ node: JSONNode, _ type: Number.Type = Number.self) -> Number? {
        switch node.kind {
        case .integer, .number: JSONNumber.integer(bytes[node.text])
        default: nil
        }
    }

    /// A number; `nil` for any other value and for a number that is too large.
    func number(_ node: JSONNode) -> Double? {
        switch node.kind {
        case .integer, .number: JSONNumber.double(bytes[node.text])
        default: nil
        }
    }

    /// The places of the elements of an array, or of the members of an object; empty for any other value.
    func children(of place: Int) -> [Int] {
        guard nodes.indices.contains(place) else { return [] }
        var children: [Int] = []
        var child = place + 1
        let end = min(Int(nodes[place].next), nodes.count)
        while child < end {
            children.append(child)
            child = Int(nodes[child].next)
        }
        return children
    }

    /// The member's name. The bounds keep it ASCII.
    func name(_ node: JSONNode) -> String { String(decoding: bytes[node.name], as: UTF8.self) }

    /// A list of texts; `nil` for any other value.
    func texts(at place: Int) -> [String]? {
        guard nodes.indices.contains(place), nodes[place].kind == .array else { return nil }
        var texts: [String] = []
        for child in children(of: place) {
            guard let text = text(nodes[child]) else { return nil }
            texts.append(text)
        }
        return texts
    }

    /// Any value unchanged; `nil` if it contains a number that is too large.
    func value(at place: Int) -> JSONValue? {
        guard nodes.indices.contains(place) else { return nil }
        let node = nodes[place]
        switch node.kind {
        case .null: return .null
        case .true: return .boolean(true)
        case .false: return .boolean(false)
        case .string, .escapedString: return text(node).map(JSONValue.string)
        case .integer, .number:
            if let integer = integer(node, Int64.self) { return .integer(integer) }
            return number(node).map(JSONValue.number)
        case .array:
            var elements: [JSONValue] = []
            for child in children(of: place) {
                guard let element = value(at: child) else { return nil }
                elements.append(element)
            }
            return .array(elements)
        case .object:
            var members: [String: JSONValue] = [:]
            for child in children(of: place) {
                guard let member = value(at: child) else { return nil }
                members[name(nodes[child])] = member
            }
            return .object(members)
        }
    }
}

/// The escapes of JSON strings (RFC 8259, 7), which the scanner has checked.
private enum JSONEscape {
    static func unescaped(_ characters: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(characters.count)
        var rest = characters
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                text.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                var units = [codeUnit(&rest)]
                if UTF16.isLeadSurrogate(units[0]) {
                    // The other half of the pair, after its own backslash and letter.
                    rest = rest.dropFirst(2)
                    units.append(codeUnit(&rest))
                }
                text.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
            default: text.append(escape)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func codeUnit(_ rest: inout ArraySlice<UInt8>) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            unit = unit << 4 | UInt16(rest.popFirst().flatMap { Character(UnicodeScalar($0)).hexDigitValue } ?? 0)
        }
        return unit
    }
}

/// Any JSON, for claims without a field.
public enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    /// A number without a fraction that fits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue {
    /// The text; `nil` for any other value.
    var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The text, if it can be one of an open set.
    var openValue: String? { text.flatMap { $0.isOpenValue ? $0 : nil } }

    /// The whole number; `nil` for any other value.
    var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
}

extension JSONValue: Equatable {
    /// Compares strings byte by byte.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.isSame(as: right)
        case (.array(let left), .array(let right)): left == right
        // The names are ASCII: `StrictJSON` has checked them.
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

/// The check that JSON from outside passes before a decoder reads it: that it is well-formed (RFC 8259), and that it
/// stays within the limits of `VerificationBudget`.
///
/// A decoder hashes the names of members as `String`, which takes quadratic time for text that Unicode has to reorder.
/// So a name is ASCII without escapes, and short. Decoders differ in how they handle two equal members, half a
/// surrogate pair, or a comma before a closing brace. All of these are refused here, so that every decoder reads the
/// same.
public enum StrictJSON {
    /// The reason why JSON is refused.
    public struct Flaw: Error, Sendable {
        /// A description of what was expected where the check failed.
        public let expected: String
    }

    /// Checks JSON in one pass, in time proportional to its size.
    ///
    /// - Parameter json: the bytes, UTF-8. A byte order mark before them is skipped.
    public static func check(_ json: Span<UInt8>) throws(Flaw) { _ = try JSONScanner.nodes(of: json) }

    /// Checks JSON in an array: `Array.span` needs newer systems than the package.
    public static func check(_ json: [UInt8]) throws(Flaw) {
        let slice = json[...]
        try check(slice.span)
    }
}
