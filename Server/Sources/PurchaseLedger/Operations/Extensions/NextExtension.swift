import PurchaseVerification

/// Takes a request for an extension that is due. One server at a time has it.
public struct NextExtension: LedgerOperation {
    public var apps: [String]
    /// The id of a request that is taken alone; `nil` for whichever is due first.
    public var requestID: String?

    /// The next request of the apps with these names.
    public init(apps: [String], requestID: String? = nil) {
        self.apps = apps
        self.requestID = requestID
    }

    public var locks: LedgerLocks { .parts([.requestLeases]) }

    /// - Returns: `nil` if none is due.
    public func perform(_ transaction: LedgerTransaction) throws -> ExtensionRecord? {
        let table = ExtensionsTable(connection: transaction.connection)
        let keys = transaction.registry.apps.filter { app in apps.contains { $0.isSame(as: app.settings.id) } }.map(
            \.key)
        let due = try table.due(keys, at: transaction.now, limit: requestID == nil ? 1 : 64)
        guard let row = due.first(where: { row in requestID.map { $0.isSame(as: row.requestID) } ?? true }) else {
            return nil
        }
        try table.lease(
            row.entryKey,
            until: Timestamp(millisecondsSince1970: transaction.now.millisecondsSince1970 + ExtensionRow.lease))
        return try ExtensionRecord(row, transaction)
    }
}
