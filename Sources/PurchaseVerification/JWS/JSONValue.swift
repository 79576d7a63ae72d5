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
