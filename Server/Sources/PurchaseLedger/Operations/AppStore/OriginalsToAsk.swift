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

/// The number of an app's originals after a place in the order in which they were first seen.
public struct CountOriginals: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var after: Int64

    public init(app: String, after: Int64 = 0) { (self.app, self.after) = (app, after) }

    public func answer(_ reader: LedgerTransaction) throws -> Int {
        try OriginalsTable(connection: reader.connection).count(appKey: try reader.app(app).key, after: after)
    }
}

/// The bundle id of the app in which an original was bought; `nil` if it is not known.
public struct BundleOfOriginal: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var environment: AppStoreEnvironment
    public var originalTransactionID: String

    public init(_ originalTransactionID: String, in environment: AppStoreEnvironment) {
        (self.originalTransactionID, self.environment) = (originalTransactionID, environment)
    }

    public func answer(_ reader: LedgerTransaction) throws -> String? {
        guard let number = try reader.environments.key(of: environment),
            let original = try OriginalsTable(connection: reader.connection)
                .rows(id: originalTransactionID, environment: number).first,
            let row = try reader.transactions.rows(originalKey: original.key, limit: 1).first, !row.isErased
        else { return nil }
        return try row.observed(in: environment).bundleID?.string
    }
}

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
        let table = WorkTable(connection: reader.connection)
        for row in try reader.transactions.rows(id: number) {
            guard let owner = row.ownerKey,
                try reader.customers.surviving(try reader.customers.row(owner)).key == customer.key
            else { continue }
            let original = try OriginalsTable(connection: reader.connection).row(row.originalKey)
            let work = try table.row(
                WorkKey(.history, appKey: app.key, environment: original.environment, subject: original.originalID))
            if original.appKey == app.key, work?.progress != nil, work?.nextAt == nil { return true }
        }
        return false
    }
}

/// Whether the App Store has to be asked for the status of a subscription: its last period has ended, is not withdrawn,
/// and nothing that was signed after its end is known, except a grace period without an end.
public struct SubscriptionNeedsStatus: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var environment: AppStoreEnvironment
    public var originalTransactionID: String

    public init(_ originalTransactionID: String, in environment: AppStoreEnvironment) {
        (self.originalTransactionID, self.environment) = (originalTransactionID, environment)
    }

    public func answer(_ reader: LedgerTransaction) throws -> Bool {
        guard let number = try reader.environments.key(of: environment),
            let original = try OriginalsTable(connection: reader.connection)
                .rows(id: originalTransactionID, environment: number).first
        else { return false }
        let history = try HistoryReader(transaction: reader).history(original)
        let facts = history.records.filter { !$0.isErased }.map(\.facts)
        guard let last = facts.max(by: { ($0.end ?? .epoch) < ($1.end ?? .epoch) }), let end = last.end,
            end <= reader.now
        else { return false }
        if last.signedRevocation != nil || last.cancellation != nil { return false }
        if history.renewal?.info.isGraceEndUnknown ?? false { return true }
        let stamps = [history.renewal?.stamp, last.newestStamp] + history.statuses.values.map(\.stamp)
        return !stamps.contains { $0.map { $0 >= end } ?? false }
    }
}
