import PurchaseVerification

/// Reads the passes (non-renewing subscriptions) of one customer and product, which follow each other: by three
/// statements, however many there are.
struct PassReader {
    let transaction: LedgerTransaction
    /// The histories in which this write has changed anything, so that its changes are not read back; `nil` if they are
    /// not all known.
    var changed: [PurchaseHistory]?

    private var connection: any LedgerConnection { transaction.connection }

    /// What the passes give together.
    func grounds(
        of customer: Int64, product: Int64, environment: Int64
    ) throws(LedgerStorageError) -> [AccessGround] {
        var histories = changed ?? []
        var known = Set(histories.map(\.original.key))
        for history in try stored(of: customer, product: product, environment: environment)
        where known.insert(history.original.key).inserted {
            histories.append(history)
        }
        // Its number can be as new as the passes, and is not read back.
        let named = histories.lazy.flatMap(\.records).first { $0.row.productKey == product && !$0.isErased }
        guard let productID = named?.productID else { return [] }
        var purchases: [OwnedPurchase] = []
        var revocations: [HandRevocation] = []
        for history in histories
        where history.original.environment == environment
            && history.records.contains(where: { $0.row.kind == .nonRenewing })
        {
            let owners = Ownership.stored(history)
            for holder in history.holders {
                purchases += history.purchases(of: holder, owners)
                revocations += history.handRevocations(of: holder)
            }
        }
        return PassAccess.grounds(
            of: CustomerNumber(rawValue: customer), product: ExactText(productID), purchases, revocations: revocations)
    }

    /// The histories of a customer's passes as they are stored, without the acts, which the stored owners include.
    private func stored(
        of customer: Int64, product: Int64, environment: Int64
    ) throws(LedgerStorageError) -> [PurchaseHistory] {
        let addsChanges = changed != nil
        let originals = try OriginalsTable(connection: connection)
            .ofPasses(customer, product: product, environment: environment, addsChanges: addsChanges)
        guard !originals.isEmpty else { return [] }
        return try HistoryReader(transaction: transaction).histories(
            originals,
            try transaction.transactions.ofPasses(
                customer, product: product, environment: environment, addsChanges: addsChanges),
            try HandGrantsTable(connection: connection).revocationsOfPasses(
                customer, product: product, environment: environment, addsChanges: addsChanges))
    }
}
