import Foundation

/// A bare item of a structured field (RFC 9651, 3.3).
public enum StructuredValue: Sendable, Equatable {
    case integer(Int64)
    /// Visible ASCII and spaces.
    case string(String)
    case token(String)
    case bytes([UInt8])
    case boolean(Bool)

    /// The string; `nil` if it is something else.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number; `nil` if it is something else.
    public var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The bytes; `nil` if it is something else.
    public var bytes: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The text (RFC 9651, 4.1.3.1).
    public var text: String {
        switch self {
        case .integer(let number): "\(number)"
        case .string(let text): "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
        case .token(let text): text
        case .bytes(let bytes): ":\(Data(bytes).base64EncodedString()):"
        case .boolean(let value): value ? "?1" : "?0"
        }
    }
}
