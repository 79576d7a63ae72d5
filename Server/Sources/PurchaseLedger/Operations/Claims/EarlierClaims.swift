import PurchaseVerification

/// The claims that a customer made before, whatever became of them.
///
/// A claim that binds is an act. The entry of any other claim refers to its transaction, except that of a restore of
/// several purchases, which lists them in its details.
struct EarlierClaims {
    /// The number of restores of several purchases that are looked through, the newest first.
    static let restores: Int64 = 32

    let changes: LedgerChanges
    let customer: CustomerRow
    /// The transactions in the restores; `nil` before they are read.
    private var restored: Set<TransactionKey>?

    init(_ changes: LedgerChanges, customer: CustomerRow) {
        (self.changes, self.customer) = (changes, customer)
    }

    /// Whether the customer claimed a transaction before.
    mutating func contains(_ record: TransactionRecord, in history: Int) throws(LedgerStorageError) -> Bool {
        guard !record.isNew, customer.key != 0 else { return false }
        if changes.isClaimed(record.facts.key, by: customer.key, in: history) { return true }
        if changes.transaction.situation?.hasInserted(record.row.key) ?? false { return false }
        let journal = JournalTable(connection: changes.connection)
        if try journal.hasClaim(of: customer.key, transaction: record.row.key) { return true }
        if restored == nil {
            var keys: Set<TransactionKey> = []
            for details in try journal.restores(of: customer.key, limit: Self.restores) {
                keys.formUnion(try ClaimDetails(encoded: details).outcomes.compactMap(\.key))
            }
            restored = keys
        }
        return restored?.contains(record.facts.key) ?? false
    }
}
