/// The order in which attributes are written.
public enum AttributeOrder: Sendable {
    /// The order in which Apple writes them: the DER order of a SET OF, which is the shortest first.
    case der
    /// By their numbers, as Xcode writes them.
    case byType
    /// By their numbers, but extra attributes last, as they were listed.
    case asGiven
    /// The reverse of `der`.
    case reversed
}

extension AttributeOrder {
    /// The SET of the attributes in this order.
    func set(_ attributes: [RawAttribute]) -> [UInt8] {
        switch self {
        case .der:
            DER.sortedSet(attributes.map(\.der))
        case .byType:
            DER.set(Self.sortedByType(attributes).map(\.der))
        case .asGiven:
            DER.set(attributes.map(\.der))
        case .reversed:
            DER.set(DER.sorted(attributes.map(\.der)).reversed())
        }
    }

    /// Swift's sort promises no stability, and two purchases have the same type.
    private static func sortedByType(_ attributes: [RawAttribute]) -> [RawAttribute] {
        attributes.enumerated()
            .sorted { ($0.element.type, $0.offset) < ($1.element.type, $1.offset) }
            .map(\.element)
    }
}
