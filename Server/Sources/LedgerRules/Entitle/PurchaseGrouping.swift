import PurchaseVerification

/// Groups the transactions of one original into purchases (docs/ledger.md, "One purchase under several transaction
/// ids").
public enum PurchaseGrouping {
    /// The purchases, ordered by start.
    ///
    /// - Parameters:
    ///   - transactions: the facts of every transaction of one `OwnershipKey`, in any order.
    ///   - owners: the owner of each transaction; a transaction without an entry is held.
    ///   - terms: the settings under which a transaction counts; `nil` while its product is not registered.
    public static func purchases(
        of transactions: [ObservedTransaction], owners: Ownership, terms: (ObservedTransaction) -> ProductTerms?
    ) -> [OwnedPurchase] {
        // Most originals have one transaction.
        if transactions.count == 1 { return [OwnedPurchase(of: transactions, owners, terms)].compactMap(\.self) }
        var places: [Group: Int] = [:]
        places.reserveCapacity(transactions.count)
        var groups: [(isRepurchase: Bool, transactions: [ObservedTransaction])] = []
        group(transactions.inOrderOfPurchase(), terms) { transaction, group in
            if let place = places[group] {
                groups[place].transactions.append(transaction)
            } else {
                places[group] = groups.count
                groups.append((group.isRepurchase, [transaction]))
            }
        }
        return groups.compactMap { isRepurchase, transactions in
            OwnedPurchase(of: transactions, owners, terms, isRepurchase: isRepurchase)
        }.inOrder()
    }

    /// The properties that the transactions of one purchase share, within one original.
    private enum Group: Hashable {
        /// The original itself, for all kinds except auto-renewable subscriptions, and the number of withdrawals
        /// before.
        case original(withdrawals: Int)
        /// The line item of a period.
        case lineItem(ExactText)
        /// The product and the first end, in seconds, of a period whose line item is not known, and the number of
        /// withdrawals before.
        case end(ExactText?, Int64?, withdrawals: Int)
        /// A transaction of seats, which is never a copy: more seats are bought during a period.
        case seats(TransactionKey)

        var isRepurchase: Bool {
            switch self {
            case .original(let withdrawals), .end(_, _, let withdrawals): withdrawals > 0
            case .lineItem, .seats: false
            }
        }
    }

    /// The withdrawals among the copies of one purchase so far.
    private struct Withdrawals {
        private var count = 0
        private var last: Timestamp?

        /// Adds a copy. What is bought after a withdrawal is a new purchase.
        ///
        /// - Returns: the number of withdrawals before it.
        mutating func add(_ transaction: ObservedTransaction) -> Int {
            if let last, let date = transaction.purchaseDate, date > last { (count, self.last) = (count + 1, nil) }
            last = [last, transaction.lastWithdrawal].compactMap(\.self).max()
            return count
        }
    }

    /// Passes each transaction with its group.
    private static func group(
        _ sorted: [ObservedTransaction], _ terms: (ObservedTransaction) -> ProductTerms?,
        _ add: (ObservedTransaction, Group) -> Void
    ) {
        // A period without a line item is a copy of a period that has the same product, the same end, and a line item.
        var lineItems: [Group: [(lineItem: ExactText, date: Timestamp)]] = [:]
        func isPeriod(_ transaction: ObservedTransaction) -> Bool {
            transaction.kind == .autoRenewable && transaction.seats == nil
        }
        // Nearly all have one.
        if sorted.contains(where: { isPeriod($0) && $0.lineItemID == nil }) {
            for transaction in sorted where isPeriod(transaction) {
                guard let lineItem = transaction.lineItemID, transaction.firstEnd != nil else { continue }
                lineItems[end(of: transaction), default: []].append((lineItem, transaction.purchaseDate ?? .epoch))
            }
        }
        var withdrawals = Withdrawals()
        var withdrawalsByEnd: [Group: Withdrawals] = [:]
        let hasWithdrawals = sorted.contains { $0.lastWithdrawal != nil }
        func group(_ transaction: ObservedTransaction) -> Group {
            guard transaction.kind == .autoRenewable else {
                // Each purchase of a lot or a pass has an original of its own, so its later transactions are copies
                // that restoring made after a reversal. Other kinds are bought again with the same original.
                switch transaction.kind ?? terms(transaction)?.kind {
                case .consumable, .nonRenewing: return .original(withdrawals: 0)
                case .nonConsumable, .autoRenewable, nil: break
                }
                return .original(withdrawals: withdrawals.add(transaction))
            }
            if transaction.seats != nil { return .seats(transaction.key) }
            if let lineItem = transaction.lineItemID { return .lineItem(lineItem) }
            let end = end(of: transaction)
            let date = transaction.purchaseDate ?? .epoch
            let nearest = lineItems[end]?.min { left, right in
                let distances = (left.date.distance(to: date), right.date.distance(to: date))
                guard distances.0 == distances.1 else { return distances.0 < distances.1 }
                return ExactText.isNumericallyBefore(left.lineItem, right.lineItem)
            }
            if let nearest { return .lineItem(nearest.lineItem) }
            let count = hasWithdrawals ? withdrawalsByEnd[end, default: Withdrawals()].add(transaction) : 0
            return .end(transaction.productID, transaction.firstEnd?.wholeSecond, withdrawals: count)
        }
        for transaction in sorted { add(transaction, group(transaction)) }
    }

    private static func end(of transaction: ObservedTransaction) -> Group {
        .end(transaction.productID, transaction.firstEnd?.wholeSecond, withdrawals: 0)
    }
}

extension Timestamp {
    /// The time between two times, in milliseconds.
    fileprivate func distance(to other: Timestamp) -> UInt64 {
        let (distance, overflow) = millisecondsSince1970.subtractingReportingOverflow(other.millisecondsSince1970)
        return overflow ? .max : distance.magnitude
    }
}

extension OwnedPurchase {
    /// - Parameter transactions: those of one purchase, the earliest first.
    /// - Parameter isRepurchase: whether it was bought after an earlier purchase of the original was withdrawn.
    fileprivate convenience init?(
        of transactions: [ObservedTransaction], _ owners: Ownership, _ terms: (ObservedTransaction) -> ProductTerms?,
        isRepurchase: Bool = false
    ) {
        guard let first = transactions.first else { return nil }
        // A copy may have a field that the first transaction lacks.
        let known = transactions.first { $0.productID != nil } ?? first
        let kind = transactions.lazy.compactMap { $0.kind }.first
        var (owner, others): (CustomerNumber?, [CustomerNumber]) = (nil, [])
        for owned in transactions.lazy.compactMap({ owners.owners[$0.key] }) {
            owner = owner ?? owned.customer
            others += owned.others
        }
        if !others.isEmpty {
            var seen = Set([owner].compactMap(\.self))
            others = others.filter { seen.insert($0).inserted }
        }
        let starts = transactions.lazy.compactMap { transaction in
            kind == .autoRenewable || isRepurchase
                ? transaction.purchaseDate ?? transaction.originalPurchaseDate
                : transaction.originalPurchaseDate ?? transaction.purchaseDate
        }
        self.init(
            ownership: first.ownership, transactions: transactions, owner: owner, others: others,
            terms: terms(known), productID: known.productID, statedKind: kind, quantity: first.quantity,
            start: starts.min() ?? .epoch, end: transactions.end, withdrawal: transactions.withdrawal,
            upgradedAt: transactions.upgradedAt, isRepurchase: isRepurchase)
    }
}

extension [ObservedTransaction] {
    /// The end of the period whose copies these are: as the newest signed data with an end states it or, if there is
    /// none, the latest end of a receipt.
    fileprivate var end: Timestamp? {
        if count == 1 { return self[0].end }
        let signed = compactMap { copy in
            copy.endStamp.flatMap { stamp in copy.end.map { (stamp: stamp, end: $0) } }
        }
        return signed.max { ($0.stamp, $0.end) < ($1.stamp, $1.end) }?.end ?? compactMap(\.end).max()
    }
}

extension [OwnedPurchase] {
    /// Sorted by start, then by id.
    func inOrder() -> [OwnedPurchase] {
        sortedUnlessInOrder { left, right in
            guard left.start == right.start else { return left.start < right.start }
            guard let leftKey = left.transaction, let rightKey = right.transaction else { return false }
            return ExactText.isNumericallyBefore(leftKey.transactionID, rightKey.transactionID)
        }
    }
}
