/// The rows that a query reads, as far as changes by the same write matter to it.
public struct ReadScope: Sendable, ExpressibleByArrayLiteral {
    /// The tables.
    public let tables: [String]
    /// The columns that the first parameters are compared with; none if every row of the tables matters.
    public let columns: [String]

    /// All rows of some tables.
    public init(arrayLiteral tables: String...) { (self.tables, columns) = (tables, []) }

    /// The rows of a table that have the first parameters of the query in some columns.
    public init(_ table: String, by columns: String...) { (tables, self.columns) = ([table], columns) }
}
