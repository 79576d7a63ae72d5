/// What a customer may use on a day, by one subscription or by several.
public struct WrittenAccess: Sendable, Hashable {
    /// When the access ends, without a gap; nil without access.
    public var until: Int?
    /// Without access: the possible reasons. Of several subscriptions, the one that ended last gives the reason.
    public var reasons: Set<String> = []
    /// Whether another customer owns a period that has begun, which can be a reason, too.
    public var isOfAnother = false
    /// Whether another customer owns a period that begins later. For a former owner it has not started.
    public var isOfAnotherLater = false

    /// Whether the product may be used.
    public var isActive: Bool { until != nil }

    /// The access of two subscriptions together.
    func or(_ other: WrittenAccess) -> WrittenAccess {
        WrittenAccess(
            until: [until, other.until].compactMap(\.self).max(), reasons: reasons.union(other.reasons),
            isOfAnother: isOfAnother || other.isOfAnother,
            isOfAnotherLater: isOfAnotherLater || other.isOfAnotherLater)
    }
}
