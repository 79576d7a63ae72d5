public import Foundation
public import PurchaseAPI
import PurchaseVerification

/// Finds customers of an app by a text that support staff have: the beginning of their id, whatever its case and
/// accents, or of an order's id, or a transaction or a token.
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
            if let key = try AccountTokensTable(connection: reader.connection).customer(of: id, appKey: app.key) {
                found.append((try reader.customers.row(key), .token))
            }
        }
        for order in try reader.orders.beginning(with: text, limit: Int64(max(1, limit))) where order.appKey == app.key
        {
            found.append((try reader.customers.row(order.customerKey), .order))
        }
        for row in try reader.rows(transaction: text, app) {
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

/// Finds transactions of an app by the beginning of their ids: purchases, and what refused claims name. Purchases of
/// other apps count for the limit, because the index of ids has those of all apps.
public struct TransactionSearch: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var text: String
    public var limit: Int

    /// A search.
    public init(app: String, text: String, limit: Int) {
        (self.app, self.text, self.limit) = (app, text, limit)
    }

    /// A transaction.
    public struct Found: Sendable, Equatable {
        public var transactionID: String
        /// Whether it is a purchase; otherwise only claims name it.
        public var isPurchase: Bool
    }

    public func answer(_ reader: LedgerTransaction) throws -> [Found] {
        let (app, limit) = (try reader.app(app), Int64(max(1, limit)))
        let originals = OriginalsTable(connection: reader.connection)
        var found: [Found] = []
        for row in try reader.transactions.beginning(with: text, limit: limit)
        where try !row.isErased && originals.row(row.originalKey).appKey == app.key {
            found.append(Found(transactionID: row.transactionID, isPurchase: true))
        }
        let named = try RefusedClaimsTable(connection: reader.connection)
            .transactions(beginning: text, app: app.key, limit: limit)
        found += named.map { Found(transactionID: $0, isPurchase: false) }
        var known: Set<ExactText> = []
        return Array(found.filter { known.insert(ExactText($0.transactionID)).inserted }.prefix(Int(limit)))
    }
}

/// The order number in Apple's mail to a customer.
package enum AppleOrderNumber {
    /// Whether a text has its form: capital letters and digits.
    package static func isOne(_ text: String) -> Bool {
        (8...24).contains(text.utf8.count) && text.wholeMatch(of: /[A-Z][A-Z0-9]*[0-9][A-Z0-9]*/) != nil
    }
}

/// A customer, and the operators' actions on them.
public struct CustomerSummary: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var customerID: String

    /// The summary of a customer.
    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    /// The answer.
    public struct Answer: Sendable, Equatable {
        /// The customer's id after all merges; `nil` after an erasure.
        public var customerID: String?
        /// The current account token.
        public var appAccountToken: UUID?
        public var isTester: Bool
        /// Manual grants and revocations, oldest first, including lifted ones.
        public var handGrants: [HandGrantMessage]
    }

    /// - Throws: `customer_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        let rows = try HandGrantsTable(connection: reader.connection).rows(of: customer.key)
        return Answer(
            customerID: customer.name, appAccountToken: customer.token,
            isTester: try TestersTable(connection: reader.connection).contains(customer.key, appKey: app.key),
            handGrants: try rows.map { try HandGrantMessage($0, reader) })
    }
}

/// The customer into whom another was merged; `nil` if they were not, or are not known.
public struct SurvivorOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var customerID: String

    /// The survivor of a customer.
    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    public func answer(_ reader: LedgerTransaction) throws -> String? {
        try reader.customer(customerID, try reader.app(app))?.survivor(of: customerID)
    }
}

/// Whether a known customer has the id of a guest of PurchaseKit, which is a secret, and was not merged. The mark of a
/// guest, which permits a takeover, can have ended.
public struct IsGuest: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var customerID: String

    public init(app: String, customerID: String) { (self.app, self.customerID) = (app, customerID) }

    public func answer(_ reader: LedgerTransaction) throws -> Bool {
        guard GuestID.isGuestID(customerID),
            let customer = try reader.customers.named(customerID, appKey: try reader.app(app).key)
        else { return false }
        return customer.mergedInto == nil
    }
}
