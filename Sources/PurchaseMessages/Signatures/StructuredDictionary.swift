/// A dictionary of structured fields (RFC 9651, 3.2): the form of `Signature-Input`, `Signature`, `Accept-Signature`
/// and `Content-Digest`. Decimals, dates and display strings are not read, because none of these fields has one.
///
/// Everything in it is ASCII, so its texts can be compared as `String`.
public struct StructuredDictionary: Sendable, Equatable {
    /// The members, in their order; no two have the same name.
    public var members: [Member]

    /// One member.
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
