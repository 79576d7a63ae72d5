import Foundation

/// A dictionary of structured fields (RFC 9651, 3.2): the form of `Signature-Input`, `Signature`, `Accept-Signature`
/// and `Content-Digest`. Decimals, dates and display strings are not read, because none of these fields has one.
///
/// Everything in it is ASCII, so its texts can be compared as `String`.
public struct StructuredDictionary: Sendable, Equatable {
    /// The members, in their order; no two have the same name.
    public var members: [Member]

    public struct Member: Sendable, Equatable {
        public var name: String
        public var value: StructuredMember
    }

    /// A dictionary of one member.
    public init(_ name: String, _ value: StructuredMember) { members = [Member(name: name, value: value)] }

    /// The value of a member; `nil` if there is none.
    public subscript(name: String) -> StructuredMember? { members.first { $0.name == name }?.value }

    /// The text of the field (RFC 9651, 4.1.2).
    public var text: String {
        members.map { member in
            switch member.value {
            case .item(let item) where item.value == .boolean(true):
                member.name + StructuredParameter.text(item.parameters)
            default: "\(member.name)=\(member.value.text)"
            }
        }.joined(separator: ", ")
    }
}

/// The value of a dictionary's member.
public enum StructuredMember: Sendable, Equatable {
    case item(StructuredItem)
    case list([StructuredItem], parameters: [StructuredParameter])

    /// The text (RFC 9651, 4.1.1.1 and 4.1.3).
    public var text: String {
        switch self {
        case .item(let item): item.text
        case .list(let items, let parameters):
            "(" + items.map(\.text).joined(separator: " ") + ")" + StructuredParameter.text(parameters)
        }
    }
}

/// A value with its parameters.
public struct StructuredItem: Sendable, Equatable {
    public var value: StructuredValue
    public var parameters: [StructuredParameter]

    public init(_ value: StructuredValue, parameters: [StructuredParameter] = []) {
        (self.value, self.parameters) = (value, parameters)
    }

    var text: String { value.text + StructuredParameter.text(parameters) }
}

/// A parameter of an item or an inner list.
public struct StructuredParameter: Sendable, Equatable {
    public var name: String
    public var value: StructuredValue

    /// A parameter; without a value it is `true`.
    public init(_ name: String, _ value: StructuredValue = .boolean(true)) { (self.name, self.value) = (name, value) }

    static func text(_ parameters: [StructuredParameter]) -> String {
        parameters.map { $0.value == .boolean(true) ? ";\($0.name)" : ";\($0.name)=\($0.value.text)" }.joined()
    }
}

extension [StructuredParameter] {
    /// The value of a parameter; `nil` if there is none.
    public func value(_ name: String) -> StructuredValue? { first { $0.name == name }?.value }
}

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
