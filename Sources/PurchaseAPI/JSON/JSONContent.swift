/// Any JSON, for content whose keys are Apple's.
public enum JSONContent: Codable, Sendable, Equatable {
    case null
    case boolean(Bool)
    /// A number without a fraction that fits.
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([JSONContent])
    case object([String: JSONContent])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Each decoder refuses a value of another type, so the first one that accepts it has its type.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONContent].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONContent].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// A member of an object; `nil` if there is none.
    public subscript(_ name: String) -> JSONContent? {
        if case .object(let members) = self { members[name] } else { nil }
    }
}
