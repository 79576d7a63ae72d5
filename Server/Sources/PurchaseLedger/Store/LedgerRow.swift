/// A row of a query.
public struct LedgerRow: Sendable {
    /// The values, in the order of the query's columns.
    public let values: [LedgerValue]

    /// Creates a row.
    public init(values: [LedgerValue]) {
        self.values = values
    }

    /// A reader at the first column.
    var reader: RowReader { RowReader(values) }
}
