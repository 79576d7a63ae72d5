import PurchaseVerification

/// Whether a customer owns the purchase of a number, and its history was read from the App Store to its end.
public struct IsNumberImported: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var customerID: String
    /// A transaction id.
    public var number: String

    public init(app: String, customerID: String, number: String) {
        (self.app, self.customerID, self.number) = (app, customerID, number)
    }

    public func answer(_ reader: LedgerTransaction) throws -> Bool {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else { return false }
        let tasks = AppStoreTasksTable(connection: reader.connection)
        for row in try reader.transactions.rows(id: number) {
            guard let owner = row.ownerKey,
                try reader.customers.surviving(try reader.customers.row(owner)).key == customer.key
            else { continue }
            let original = try OriginalsTable(connection: reader.connection).row(row.originalKey)
            let task = try tasks.row(
                .history, appKey: app.key, environment: original.environment, subject: original.originalID)
            if original.appKey == app.key, task?.progress != nil, task?.nextAt == nil { return true }
        }
        return false
    }
}
