/// A waiting write.
protocol PostgreSQLWriteJob: AnyObject, Sendable {
    var plan: LedgerWritePlan { get }
    /// Adds parts that it turned out to need.
    ///
    /// - Returns: whether it may be tried with them.
    func add(_ parts: Set<LedgerLock>) -> Bool
    /// Adds rows that it turned out to need, so that another transaction loads them at once.
    func add(_ needs: LedgerNeeds)
    func perform(_ connection: any LedgerConnection) throws
    func succeed()
    func fail(_ error: any Error)
}

extension PostgreSQLWriteJob {
    /// Whether it uses prefetched rows.
    var isPlanned: Bool {
        guard case .parts = plan.locks else { return false }
        return !plan.reads.isEmpty
    }
}
