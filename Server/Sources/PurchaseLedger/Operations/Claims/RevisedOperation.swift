import PurchaseVerification

/// Restarts a write as another one, after everything that it wrote was undone.
struct RevisedOperation<Operation: LedgerOperation>: Error {
    let operation: Operation
}
