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
        /// Whether an upgrade ended its period.
        public let isUpgraded: Bool
        /// When the period that replaced it after an upgrade began; `nil` if it was not upgraded, or if that period is
        /// not known.
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
                    Entry(
                        facts: $0, withdrawal: purchase.withdrawal, isUpgraded: purchase.upgradedAt != nil,
                        replacedAt: replacedAt)
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
        guard purchase.upgradedAt != nil else { return nil }
        let next = purchases.first {
            $0.start > purchase.start && $0.productID != purchase.productID && $0.statedKind == .autoRenewable
        }
        return next.map { min($0.start, purchase.end ?? $0.start) }
    }
}

/// Which of the known copies of a receipt's originals the sender of the receipt has, and what is signed about those. Of
/// what a family or a group shares, the copies of other members are not the sender's. A pure function.
///
/// In recorded receipts each member's copies have an original of their own. The rule does not rely on that, because
/// signed data can name one original for several holders.
package struct ReceiptCopies {
    /// The known copies of one original.
    private struct Copies {
        /// The sender's.
        var own: Set<ExactText> = []
        /// Those of others, and erased ones that the receipt does not name.
        var others: Set<ExactText> = []
        /// The holders that the sender is.
        var holders: Set<PurchaseHolder> = []
        /// The downloads of the app that the sender's copies name.
        var downloads: Set<ExactText> = []
    }

    /// The transactions of the sender that the ledger knows.
    package let transactions: [ObservedTransaction]
    /// Whether every known transaction of the receipt belonged to an erased customer, and there is one.
    package let areErased: Bool
    private let originals: [ExactText: Copies]

    /// - Parameters:
    ///   - receipt: the facts of the receipt alone, by original and transaction.
    ///   - known: the transactions of the same originals that the ledger knows, whoever has them.
    ///   - erased: the numbers of erased transactions, by original.
    package init(
        of receipt: [ExactText: [ExactText: ObservedTransaction]], known: [ObservedTransaction],
        erased: [ExactText: Set<ExactText>]
    ) {
        func isNamed(_ facts: ObservedTransaction) -> Bool {
            receipt[facts.original.transactionID]?[facts.key.transactionID] != nil
        }
        var originals: [ExactText: Copies] = [:]
        // The ownership type that the ledger knows counts before that of the receipt: it can be from signed data.
        var typed: Set<ExactText> = []
        for facts in known where facts.ownershipType != nil && isNamed(facts) {
            typed.insert(facts.key.transactionID)
            if let holder = facts.distinctHolder {
                originals[facts.original.transactionID, default: Copies()].holders.insert(holder)
            }
        }
        for (original, copies) in receipt {
            for (id, facts) in copies where !typed.contains(id) {
                if let holder = facts.distinctHolder { originals[original, default: Copies()].holders.insert(holder) }
            }
        }
        var transactions: [ObservedTransaction] = []
        for facts in known {
            let (original, id) = (facts.original.transactionID, facts.key.transactionID)
            let isSameHolder = facts.distinctHolder.map { originals[original]?.holders.contains($0) ?? false } ?? false
            guard isNamed(facts) || isSameHolder else {
                originals[original, default: Copies()].others.insert(id)
                continue
            }
            transactions.append(facts)
            originals[original, default: Copies()].own.insert(id)
            if let download = facts.appTransactionID { originals[original]?.downloads.insert(download) }
        }
        var isNamedErased = false
        for (original, ids) in erased {
            for id in ids {
                guard receipt[original]?[id] == nil else {
                    isNamedErased = true
                    continue
                }
                originals[original, default: Copies()].others.insert(id)
            }
        }
        (self.transactions, self.originals) = (transactions, originals)
        areErased = isNamedErased && transactions.isEmpty
    }

    /// The renewal info about the sender's copies of an original: what was signed beside one of them, and what names a
    /// download of theirs. What names neither is about them only if nobody else is known to have copies.
    package func renewal(of original: ExactText, _ renewal: ObservedRenewal?) -> ObservedRenewal? {
        guard let renewal, let copies = originals[original] else { return nil }
        guard !copies.others.isEmpty || !copies.downloads.isEmpty else { return renewal }
        return ObservedRenewal(
            renewal.statements.filter { statement in
                if let beside = statement.beside {
                    if copies.own.contains(beside) { return true }
                    if copies.others.contains(beside) { return false }
                }
                if let download = statement.info.appTransactionID, !copies.downloads.isEmpty {
                    return copies.downloads.contains(download)
                }
                return copies.others.isEmpty
            })
    }

    /// The statuses of the sender's copies of an original.
    ///
    /// - Parameter statuses: the newest ones, by the name of the holder.
    package func statuses(of original: ExactText, _ statuses: [String: SignedStatus]) -> [String: SignedStatus] {
        guard let copies = originals[original] else { return [:] }
        guard !copies.others.isEmpty else { return statuses }
        let names = Set(copies.holders.map(\.name))
        return statuses.filter { names.contains($0.key) }
    }
}

extension ObservedTransaction {
    /// The holder, if all copies of that holder are known to be of one Apple account: not of a family member whose
    /// download is not known, and not under an ownership type without a known meaning.
    fileprivate var distinctHolder: PurchaseHolder? {
        switch ownership.holder {
        case .buyer: ownershipType == nil || ownershipType == "PURCHASED" ? .buyer : nil
        case .family(appTransactionID: nil): nil
        case .family, .assigned, .assignedTransaction: ownership.holder
        }
    }
}
