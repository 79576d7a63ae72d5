/// A query that a write will probably run, with its values.
public struct ExpectedRead: Sendable {
    let shape: ReadShape
    /// The values of the shape's parameters, in order. A column of another query is replaced by that query's values.
    let values: [LedgerValue]

    init(_ shape: ReadShape, _ values: [LedgerValue]) {
        self.shape = shape
        self.values = values
    }
}
