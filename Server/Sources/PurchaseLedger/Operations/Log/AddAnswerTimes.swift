import PurchaseVerification

/// Adds how long answers of a server took to the counts of an hour.
public struct AddAnswerTimes: LedgerOperation {
    /// The number of answers of an app, by the bound of their time.
    public var counts: [String: [AnswerTimeBound: Int64]]

    /// - Parameter counts: by the id of the app.
    public init(_ counts: [String: [AnswerTimeBound: Int64]]) { self.counts = counts }

    public var locks: LedgerLocks { .parts([]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let table = HourlyCountsTable(connection: transaction.connection)
        let hour = HourlyCount.hour(of: transaction.now)
        // In one order, so that two servers never wait for each other.
        for (app, times) in counts.sorted(by: { $0.key < $1.key }) {
            for (bound, count) in times.sorted(by: { $0.key < $1.key }) {
                try table.add(
                    HourlyCount(hour: hour, kind: AnswerTimeBound.kind, code: bound.code, count: count), app: app)
            }
        }
    }
}
