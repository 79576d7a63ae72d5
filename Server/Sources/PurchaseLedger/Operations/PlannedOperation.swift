/// An operation that can predict its reads. For other operations each read is a round trip to a database on another
/// machine.
protocol PlannedOperation: LedgerOperation {
    /// The locks, and the rows that it will probably read and insert.
    func plan(_ registry: Registry) -> LedgerWritePlan
}
