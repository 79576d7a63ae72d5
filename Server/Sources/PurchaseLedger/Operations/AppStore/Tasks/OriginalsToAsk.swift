public import PurchaseVerification

/// Originals about which the App Store Server API can be asked: those of production and of the sandbox.
public struct OriginalsToAsk: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var scope: Scope

    /// Which originals.
    public enum Scope: Sendable {
        /// Those of a customer, and of everybody merged into them.
        case customer(String)
        /// That of a transaction.
        case transaction(String)
        /// A page of all, in the order in which they were first seen.
        case all(after: Int64, limit: Int)
    }

    public init(app: String, _ scope: Scope) { (self.app, self.scope) = (app, scope) }

    /// An original with its place in the order.
    public struct Original: Sendable, Equatable {
        public var place: Int64
        public var environment: AppStoreEnvironment
        public var originalTransactionID: String
        public var bundleID: String?
    }

    /// - Throws: `customer_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> [Original] {
        let app = try reader.app(app)
        let table = OriginalsTable(connection: reader.connection)
        let rows: [OriginalRow]
        switch scope {
        case .customer(let name):
            guard let customer = try reader.customer(name, app) else {
                throw LedgerRefusal(.customerUnknown, expected: name)
            }
            var keys: Set<Int64> = []
            keys.formUnion(try reader.transactions.originals(of: customer.key))
            rows = try keys.sorted().map { key throws(LedgerStorageError) in try table.row(key) }
        case .transaction(let id):
            var keys: Set<Int64> = []
            for row in try reader.transactions.rows(id: id) where !row.isErased { keys.insert(row.originalKey) }
            rows = try keys.sorted().map { key throws(LedgerStorageError) in try table.row(key) }
        case .all(let place, let limit): rows = try table.rows(appKey: app.key, after: place, limit: Int64(limit))
        }
        var originals: [Original] = []
        for row in rows where row.appKey == app.key {
            let environment = try reader.environments.environment(row.environment)
            guard environment == .production || environment == .sandbox else { continue }
            let first = try reader.transactions.rows(originalKey: row.key, limit: 1).first { !$0.isErased }
            guard let first else { continue }
            originals.append(
                Original(
                    place: row.key, environment: environment, originalTransactionID: row.originalID,
                    bundleID: try first.observed(in: environment).bundleID?.string))
        }
        return originals
    }
}
