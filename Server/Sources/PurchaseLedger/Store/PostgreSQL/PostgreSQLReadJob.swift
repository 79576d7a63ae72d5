/// A waiting read.
protocol PostgreSQLReadJob: AnyObject, Sendable {
    /// Whether it is a single statement, which needs no transaction.
    var isStatement: Bool { get }
    func perform(_ connection: any LedgerConnection) throws
    func succeed()
    func fail(_ error: any Error)
}
