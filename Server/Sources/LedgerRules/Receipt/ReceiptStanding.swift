public import PurchaseVerification

/// What a receipt and the ledger together prove at a time: the purchases of the receipt's originals, and the standing
/// of each subscription. A pure function, over the table that also decides entitlements.
public struct ReceiptStanding: Sendable {
    /// One transaction.
    public struct Entry: Sendable {
        /// Its facts; what the receipt says is merged into what the ledger knows.
        public let facts: ObservedTransaction
        /// The withdrawal of its purchase, over all of its copies.
        public let withdrawal: Withdrawal?
        /// When the period that replaced it after an upgrade began; `nil` if it was not upgraded.
        public let replacedAt: Timestamp?
    }

    /// One subscription.
    public struct Subscription: Sendable {
        /// The original transaction.
        public let originalID: ExactText
        /// What is known; `nil` before its first period.
        public let standing: SubscriptionStanding?
    }

    /// The transactions, in no order.
    public let entries: [Entry]
    /// The subscriptions, in the order of the receipt.
    public let subscriptions: [Subscription]

    /// Whether every subscription has signed news about its latest period, and there is one.
    public var isLive: Bool {
        !subscriptions.isEmpty && subscriptions.allSatisfy { $0.standing?.isConfirmed ?? false }
    }

    /// The original transactions of the subscriptions without such news.
    public var unconfirmed: [String] {
        subscriptions.filter { !($0.standing?.isConfirmed ?? false) }.map(\.originalID.string)
    }

    /// One subscription for each original, in the order of the receipt: of several holders, the one whose latest period
    /// began last.
    public var onePerOriginal: [Subscription] {
        var (places, chosen): ([ExactText: Int], [Subscription]) = ([:], [])
        for subscription in subscriptions {
            guard let place = places[subscription.originalID] else {
                places[subscription.originalID] = chosen.count
                chosen.append(subscription)
                continue
            }
            guard let start = subscription.standing?.purchase.start else { continue }
            if chosen[place].standing.map({ $0.purchase.start < start }) ?? true { chosen[place] = subscription }
        }
        return chosen
    }

    /// - Parameters:
    ///   - receipt: the statements of the receipt.
    ///   - state: what the ledger knows.
    ///   - moment: the time of the question.
    public init(_ receipt: Observation, _ state: ReceiptState, at moment: Timestamp) {
        var facts: [TransactionKey: ObservedTransaction] = [:]
        for known in state.transactions { facts[known.key] = known }
        for stated in receipt.transactionFacts { facts[stated.key] = facts[stated.key]?.merged(with: stated) ?? stated }
        var groups: [OwnershipKey: [ObservedTransaction]] = [:]
        for transaction in facts.values { groups[transaction.ownership, default: []].append(transaction) }
        var (entries, subscriptions): ([Entry], [Subscription]) = ([], [])
        for (key, transactions) in Self.inOrder(groups, of: receipt) {
            let purchases = PurchaseGrouping.purchases(of: transactions, owners: Ownership(owners: [:])) { facts in
                facts.kind.map { ProductTerms(kind: $0) }
            }
            for purchase in purchases {
                let replacedAt = Self.replacement(of: purchase, among: purchases)
                entries += purchase.transactions.map {
                    Entry(facts: $0, withdrawal: purchase.withdrawal, replacedAt: replacedAt)
                }
            }
            let periods = purchases.filter { $0.kind == .autoRenewable }
            guard !periods.isEmpty else { continue }
            let originalID = key.original.transactionID
            let table = SubscriptionTable(
                periods, renewal: state.renewals[originalID], status: state.statuses[originalID]?[key.holder.name])
            subscriptions.append(Subscription(originalID: originalID, standing: table.standing(.now(moment))))
        }
        (self.entries, self.subscriptions) = (entries, subscriptions)
    }

    /// The groups in the order in which the receipt first names their originals.
    private static func inOrder(
        _ groups: [OwnershipKey: [ObservedTransaction]], of receipt: Observation
    ) -> [(OwnershipKey, [ObservedTransaction])] {
        var places: [OriginalKey: Int] = [:]
        for facts in receipt.transactionFacts where places[facts.original] == nil {
            places[facts.original] = places.count
        }
        return groups.sorted { left, right in
            let (first, second) = (places[left.key.original] ?? .max, places[right.key.original] ?? .max)
            return first == second ? left.key.holder.name < right.key.holder.name : first < second
        }.map { ($0.key, $0.value) }
    }

    private static func replacement(of purchase: OwnedPurchase, among purchases: [OwnedPurchase]) -> Timestamp? {
        guard let upgradedAt = purchase.upgradedAt else { return nil }
        let next = purchases.first {
            $0.start > purchase.start && $0.productID != purchase.productID && $0.statedKind == .autoRenewable
        }
        return next.map { min($0.start, purchase.end ?? $0.start) } ?? upgradedAt
    }
}
