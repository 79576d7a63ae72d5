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
