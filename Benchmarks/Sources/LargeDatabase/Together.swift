import PurchaseLedger

/// Operations in one transaction, one after the other.
struct Together<Operation: LedgerOperation>: LedgerOperation {
    let operations: [Operation]

    func perform(_ transaction: LedgerTransaction) throws -> [Operation.Outcome] {
        try operations.map { try $0.perform(transaction) }
    }
}
