import PurchaseAPI

/// JSON in the order in which it was written, its numbers as they were written.
///
/// Foundation keeps neither, and its objects hash names that come from outside, in a time that grows with the square of their
/// length (docs/decisions.md, 41). Names and texts are bytes here, repaired UTF-8 without escapes.
enum JSONValue {
    case string([UInt8])
    /// The digits as they were written (RFC 8259, 6).
    case number([UInt8])
    case boolean(Bool)
    case null
    case array([JSONValue])
    case object([Member])

    struct Member {
        let name: [UInt8]
        let value: JSONValue
    }

    /// The maximum depth: reading and writing recurse on the stack. Evidence has four levels.
    static let depthLimit = 64
    /// The maximum number of values: each takes dozens of bytes here. The largest genuine claims have fewer than a
    /// hundred.
    static let valueLimit = 65_536

    /// Reads a text (RFC 8259).
    /// - Parameter isTolerant: accepts a byte order mark at the start and commas after the last members, as Foundation
    ///   does.
    /// - Returns: nil if it is not JSON, or exceeds a limit.
    init?(_ json: [UInt8], isTolerant: Bool = false) {
        var reader = JSONReader(json, isTolerant: isTolerant)
        guard let value = reader.document() else { return nil }
        self = value
    }

    /// The members of an object.
    var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The text of a member; nil if it is absent, not a text, or repeated.
    func text(_ name: StaticString) -> [UInt8]? {
        let named = members?.filter { member in
            name.withUTF8Buffer { member.name.elementsEqual($0) }
        }
        guard let named, named.count == 1, case .string(let text) = named[0].value else { return nil }
        return text
    }

    /// Writes the value without white space.
    func write(to json: inout JSONWriter) {
        switch self {
        case .string(let text): json.string(utf8: text)
        case .number(let digits): json.json(digits)
        case .boolean(let value): json.boolean(value)
        case .null: json.null()
        case .array(let values): json.array(values) { $1.write(to: &$0) }
        case .object(let members):
            json.object { json in
                for member in members {
                    json.key(String(decoding: member.name, as: UTF8.self))
                    member.value.write(to: &json)
                }
            }
        }
    }
}
