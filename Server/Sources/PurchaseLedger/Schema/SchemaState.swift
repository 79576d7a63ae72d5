import PurchaseVerification

/// The schema and the rules of a database, for an operator.
public struct SchemaState: Sendable, Equatable {
    /// The number of the newest migration that has ended: the schema that servers write.
    public let number: Int64
    /// The numbers of the migrations that have added what they add and wait for `assay migrate --contract`.
    public let expansions: [Int64]
    /// The version of the rules by which servers decide; `nil` in a new database.
    public let rules: Int64?
    /// Whether a later release than this program's has added something.
    public let isExpandedByLater: Bool

    /// Reads the state of a database with a schema of Assay.
    ///
    /// - Throws: `LedgerStorageError`.
    public init(of database: any LedgerDatabase) async throws {
        let (dialect, newest) = (database.dialect, LedgerRelease.this.newest)
        self = try await database.read(.keys) { connection in
            let inForce = try SchemaNumber.require(
                SchemaRange(numbers: 0...Int64.max, rules: 0...Int64.max), connection)
            let expansions = try SchemaExpansions(connection: connection, dialect: dialect).numbers()
            return SchemaState(
                number: inForce.number, expansions: expansions, rules: inForce.rules,
                isExpandedByLater: expansions.contains { $0 > newest })
        }
    }

    private init(number: Int64, expansions: [Int64], rules: Int64?, isExpandedByLater: Bool) {
        (self.number, self.expansions, self.rules) = (number, expansions, rules)
        self.isExpandedByLater = isExpandedByLater
    }
}
