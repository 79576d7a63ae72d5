import Foundation
import PurchaseVerification

/// Finds customers of an app by a text that support staff have: the beginning of an id, or an order, a transaction or a
/// token.
public struct CustomerSearch: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var text: String
    public var limit: Int

    /// A search.
    public init(app: String, text: String, limit: Int) {
        self.app = app
        self.text = text
        self.limit = limit
    }

    /// A customer, and what of them the text is.
    public struct Found: Sendable, Equatable {
        public var customerID: String
        public var foundBy: Match
        /// The customer into whom they were merged.
        public var mergedInto: String?
    }

    /// What a text is.
    public enum Match: String, Sendable {
        case order
        case transaction
        case token
        case id
    }

    public func answer(_ reader: LedgerTransaction) throws -> [Found] {
        let app = try reader.app(app)
        var found: [(CustomerRow, Match)] = []
        if let id = UUID(uuidString: text) {
            if let order = try reader.orders.row(id: id), order.appKey == app.key {
                found.append((try reader.customers.row(order.customerKey), .order))
            }
            if let key = try AccountTokensTable(connection: reader.connection).customer(of: id, appKey: app.key) {
                found.append((try reader.customers.row(key), .token))
            }
        }
        let originals = OriginalsTable(connection: reader.connection)
        for row in try reader.transactions.rows(id: text) where try originals.row(row.originalKey).appKey == app.key {
            guard let owner = row.ownerKey else { continue }
            found.append((try reader.customers.surviving(try reader.customers.row(owner)), .transaction))
        }
        for row in try reader.customers.beginning(with: text, appKey: app.key, limit: Int64(max(1, limit))) {
            found.append((row, .id))
        }
        var customers: [Found] = []
        for (row, match) in found.prefix(max(1, limit)) {
            // An erased customer has no name.
            guard let name = row.name else { continue }
            let survivor = try reader.customers.surviving(row)
            customers.append(
                Found(customerID: name, foundBy: match, mergedInto: survivor.key == row.key ? nil : survivor.name))
        }
        return customers
    }
}
