/// The rows of a query.
struct PostgreSQLKnownRows {
    let rows: [LedgerRow]
    /// The rows whose changes matter to the query; `nil` for all.
    let scope: ReadScope?
}
