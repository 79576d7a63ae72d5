/// The rows that a query reads, as far as changes by the same write matter to it.
public struct ReadScope: Sendable, ExpressibleByArrayLiteral {
    /// The tables.
    public let tables: [String]
    /// The columns of the first table that the first parameters are compared with; none if each of its rows matters.
    private let columns: [String]

    /// All rows of some tables.
    public init(arrayLiteral tables: String...) { (self.tables, columns) = (tables, []) }

    /// The rows of a table that have the first parameters of the query in some columns.
    ///
    /// - Parameter others: tables of which every row matters.
    public init(_ table: String, by columns: String..., and others: [String] = []) {
        (tables, self.columns) = ([table] + others, columns)
    }

    /// The columns of a table that the first parameters are compared with; none if every row of it matters.
    func columns(of table: String) -> [String] { table == tables.first ? columns : [] }
}
