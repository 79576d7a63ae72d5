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
        if transactions.count == 1 { return [OwnedPurchase(transactions, owners, terms)].compactMap(\.self) }
        var groups: [Group: [ObservedTransaction]] = [:]
        var order: [Group] = []
        for (transaction, group) in grouped(transactions.inOrderOfPurchase()) {
            if groups[group, default: []].isEmpty { order.append(group) }
            groups[group, default: []].append(transaction)
        }
        return order.compactMap { group in groups[group].flatMap { OwnedPurchase($0, owners, terms) } }.inOrder()
    }

    /// The properties that the transactions of one purchase share, within one original.
    private enum Group: Hashable {
        /// The original itself, for all kinds except auto-renewable subscriptions.
        case original
        /// The line item of a period.
        case lineItem(ExactText)
        /// The product and the first end, in seconds, of a period whose line item is not known.
        case end(ExactText?, Int64?)
    }

    private static func grouped(_ sorted: [ObservedTransaction]) -> [(ObservedTransaction, Group)] {
        // A period without a line item is a copy of the earliest period that has the same product, the same end, and a line item.
        var lineItems: [Group: ExactText] = [:]
        for transaction in sorted where transaction.kind == .autoRenewable {
            guard let lineItem = transaction.lineItemID, transaction.firstEnd != nil else { continue }
            let end = end(of: transaction)
            if lineItems[end] == nil { lineItems[end] = lineItem }
        }
        return sorted.map { transaction in
            guard transaction.kind == .autoRenewable else { return (transaction, .original) }
            if let lineItem = transaction.lineItemID { return (transaction, .lineItem(lineItem)) }
            let end = end(of: transaction)
            return (transaction, lineItems[end].map { .lineItem($0) } ?? end)
        }
    }

    private static func end(of transaction: ObservedTransaction) -> Group {
        .end(transaction.productID, transaction.firstEnd?.wholeSecond)
    }
}

extension OwnedPurchase {
    /// - Parameter transactions: those of one purchase, the earliest first.
    fileprivate init?(
        _ transactions: [ObservedTransaction], _ owners: Ownership, _ terms: (ObservedTransaction) -> ProductTerms?
    ) {
        guard let first = transactions.first else { return nil }
        // A copy may have a field that the first transaction lacks.
        let known = transactions.first { $0.productID != nil } ?? first
        let kind = transactions.lazy.compactMap(\.kind).first
        let owner = transactions.lazy.compactMap { owners.owners[$0.key] }.first { $0.customer != nil }
        var seen = Set([owner?.customer].compactMap(\.self))
        let others = transactions.flatMap { owners.owners[$0.key]?.others ?? [] }.filter { seen.insert($0).inserted }
        let starts = transactions.compactMap { transaction in
            kind == .autoRenewable
                ? transaction.purchaseDate ?? transaction.originalPurchaseDate
                : transaction.originalPurchaseDate ?? transaction.purchaseDate
        }
        let withdrawals = transactions.compactMap(\.withdrawal)
        var withdrawal = withdrawals.min { ($0.date, $0.cause.rawValue) < ($1.date, $1.cause.rawValue) }
        withdrawal?.units = withdrawals.map(\.units).max() ?? 0
        self.init(
            ownership: first.ownership, transactions: transactions, owner: owner?.customer, others: others,
            terms: terms(known), productID: known.productID, statedKind: kind, quantity: first.quantity,
            start: starts.min() ?? .epoch, end: transactions.end, withdrawal: withdrawal,
            upgradedAt: transactions.compactMap(\.upgradedAt).min())
    }
}

extension [ObservedTransaction] {
    /// The end of the period whose copies these are: as the newest signed data with an end states it or, if there is none, the
    /// latest end of a receipt.
    fileprivate var end: Timestamp? {
        let signed = compactMap { copy in
            copy.endStamp.flatMap { stamp in copy.end.map { (stamp: stamp, end: $0) } }
        }
        return signed.max { ($0.stamp, $0.end) < ($1.stamp, $1.end) }?.end ?? compactMap(\.end).max()
    }
}

extension [OwnedPurchase] {
    /// Sorted by start, then by id.
    func inOrder() -> [OwnedPurchase] {
        sorted { left, right in
            guard left.start == right.start else { return left.start < right.start }
            guard let leftKey = left.transaction, let rightKey = right.transaction else { return false }
            return ExactText.isNumericallyBefore(leftKey.transactionID, rightKey.transactionID)
        }
    }
}
