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

    /// How deep it may nest: reading and writing descend on the stack. Evidence nests four levels deep.
    static let depthLimit = 64
    /// How many values it may have: each takes dozens of bytes here. The largest genuine claims have fewer than a hundred.
    static let valueLimit = 65_536

    /// Reads a text (RFC 8259).
    /// - Parameter isTolerant: takes a byte order mark at the beginning and commas behind the last members, as Foundation does.
    /// - Returns: nil where it is not JSON, or exceeds a limit.
    init?(_ json: [UInt8], isTolerant: Bool = false) {
        var reader = JSONReader(json, isTolerant: isTolerant)
        guard let value = reader.document() else { return nil }
        self = value
    }

    /// The members of an object.
    var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The text of a member; nil where there is none, where it is not a text, or where the name appears more than once.
    func text(_ name: StaticString) -> [UInt8]? {
        let named = members?.filter { member in
            name.withUTF8Buffer { member.name.elementsEqual($0) }
        }
        guard let named, named.count == 1, case .string(let text) = named[0].value else { return nil }
        return text
    }

    /// Writes it anew, without white space.
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
