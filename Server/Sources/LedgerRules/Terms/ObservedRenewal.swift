public import PurchaseVerification

/// The facts of one subscription's renewal: the newest renewal info that was signed beside each transaction, and
/// without one, for each thing that it says about the end of a period.
public final class ObservedRenewal: Sendable {
    /// The subscription.
    public let key: RenewalKey
    /// One for each slot, in the order of the slots; at least one.
    public let statements: [RenewalStatement]
    /// The newest of them.
    public let newest: RenewalStatement

    /// - Parameter statements: of one subscription, at most one for each slot.
    package init?(_ statements: [RenewalStatement]) {
        guard let first = statements.first else { return nil }
        key = first.key
        self.statements = statements.sorted { $0.slot < $1.slot }
        newest = statements.dropFirst().reduce(first, RenewalStatement.newer)
    }

    package init(first statement: RenewalStatement) {
        (key, statements, newest) = (statement.key, [statement], statement)
    }

    /// When the newest renewal info was signed.
    public var stamp: Timestamp { newest.stamp }
    /// The newest renewal info.
    public var info: RenewalInfo { newest.info }
}

extension ObservedRenewal: Hashable {
    public static func == (left: ObservedRenewal, right: ObservedRenewal) -> Bool {
        left === right || left.statements == right.statements
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(stamp)
    }
}
