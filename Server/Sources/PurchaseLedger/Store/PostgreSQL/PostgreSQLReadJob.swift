/// A waiting read.
protocol PostgreSQLReadJob: AnyObject, Sendable {
    func perform(_ connection: any LedgerConnection) throws
    func succeed()
    func fail(_ error: any Error)
}
