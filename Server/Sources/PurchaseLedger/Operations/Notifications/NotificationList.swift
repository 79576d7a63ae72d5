public import PurchaseVerification

public import struct Foundation.UUID

/// The notifications of an app, the newest first.
public struct NotificationList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of notifications that a page reads. With a filter that excludes most of them, a page can be
    /// shorter than its limit; the next page continues.
    static let mostRows = 512

    public var app: String
    public var filter: NotificationFilter
    /// The position at which the previous page ended.
    public var before: Int64
    public var limit: Int

    /// A page of notifications.
    public init(
        app: String, filter: NotificationFilter = NotificationFilter(), before: Int64 = .max, limit: Int
    ) {
        self.app = app
        self.filter = filter
        self.before = before
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last.
    public struct Answer: Sendable {
        public var notifications: [NotificationRecord]
        public var next: Int64?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let rows = try rows(try reader.app(app), reader)
        var found: [NotificationRecord] = []
        var place = before
        for row in rows {
            guard found.count < max(1, limit) else { return Answer(notifications: found, next: place) }
            place = row.key
            let details = try row.details.map(NotificationDetails.init(encoded:))
            if matches(details) { found.append(try NotificationRecord(row, details, reader)) }
        }
        return Answer(notifications: found, next: rows.count < readRows ? nil : place)
    }

    /// The number of rows that a page reads: with a filter that no index serves, more than the limit.
    private var readRows: Int {
        filter.subtype == nil && filter.transactionID == nil && (filter.type == nil || filter.customerID == nil)
            ? min(max(1, limit) + 1, Self.mostRows) : Self.mostRows
    }

    /// The entries that the narrowest index gives, the newest first.
    private func rows(_ app: RegistryApp, _ reader: LedgerTransaction) throws -> [JournalRow] {
        let journal = JournalTable(connection: reader.connection)
        let count = Int64(readRows)
        var rows: [JournalRow] = []
        if let id = filter.transactionID {
            let originals = OriginalsTable(connection: reader.connection)
            // One for each environment, because another app can have a transaction with this id.
            for row in try reader.transactions.rows(id: id) where try originals.row(row.originalKey).appKey == app.key {
                rows += try journal.notifications(original: row.originalKey, before: before, limit: count)
            }
        } else if let name = filter.customerID {
            guard let named = try reader.customers.named(name, appKey: app.key) else {
                throw LedgerRefusal(.customerUnknown, expected: name)
            }
            // One can concern several customers who were merged since.
            var known: Set<Int64> = []
            for customer in try reader.customers.family(of: named, limit: EventSearch.largestFamily) {
                rows += try journal.notifications(customer: customer, before: before, limit: count)
                    .filter { known.insert($0.key).inserted }
            }
        } else if let type = filter.type {
            for name in NotificationType(rawValue: type).names {
                rows += try journal.notifications(
                    appKey: app.key, type: name.rawValue, before: before, limit: count)
            }
        } else {
            return try journal.notifications(appKey: app.key, type: nil, before: before, limit: count)
        }
        return Array(rows.sorted { $0.key > $1.key }.prefix(readRows))
    }

    private func matches(_ details: NotificationDetails?) -> Bool {
        (filter.type.map { NotificationType(rawValue: $0).canonical.rawValue.isSame(as: details?.usualType) } ?? true)
            && (filter.subtype.map { $0.isSame(as: details?.subtype) } ?? true)
            && (filter.transactionID.map {
                $0.isSame(as: details?.transactionID) || $0.isSame(as: details?.originalTransactionID)
            } ?? true)
    }
}

/// The filter of a list of notifications. Fields that are `nil` do not restrict it.
public struct NotificationFilter: Sendable, Equatable {
    /// Apple's name of the type, such as `REFUND`.
    public var type: String?
    public var subtype: String?
    /// The owner of the purchase.
    public var customerID: String?
    /// The transaction, or its original.
    public var transactionID: String?

    /// All notifications.
    public init(
        type: String? = nil, subtype: String? = nil, customerID: String? = nil, transactionID: String? = nil
    ) {
        self.type = type
        self.subtype = subtype
        self.customerID = customerID
        self.transactionID = transactionID
    }
}

/// A received notification.
public struct NotificationRecord: Sendable, Equatable {
    /// The entry of its first delivery.
    public var entryID: UUID
    /// When the first delivery was recorded.
    public var receivedAt: Timestamp
    /// Apple's `notificationUUID`, or `sha256:` and the hash of its bytes; `nil` after an erasure.
    public var notificationID: String?
    /// Apple's name of the type; `MIGRATION` also for `MIGRATE`.
    public var type: String?
    public var subtype: String?
    public var signedAt: Timestamp?
    public var environment: String?
    public var content: NotificationFacts.Content?
    public var status: Int64?
    public var refundReason: String?
    public var originalTransactionID: String?
    public var transactionID: String?
    /// The present owner of the purchase. If it is about no known transaction, the customer when it was received, after
    /// all merges.
    public var customerID: String?
    /// SHA-256 of its bytes, in hexadecimal; `nil` after an erasure.
    public var evidenceSHA256: String?
}

extension NotificationRecord {
    init(
        _ row: JournalRow, _ details: NotificationDetails?, _ reader: LedgerTransaction
    ) throws(LedgerStorageError) {
        entryID = row.id
        receivedAt = row.at
        notificationID = details?.notificationID
        type = details?.usualType
        subtype = details?.subtype
        signedAt = details?.signedAt.map(Timestamp.init(millisecondsSince1970:))
        environment = details?.environment
        content = details.flatMap { NotificationFacts.Content(rawValue: $0.content) }
        status = details?.status
        refundReason = details?.refundReason
        originalTransactionID = details?.originalTransactionID
        transactionID = details?.transactionID
        let owner = try row.transactionKey.flatMap { key throws(LedgerStorageError) in
            try reader.transactions.row(key)
        }
        if let key = owner.map(\.ownerKey) ?? row.customerKey {
            customerID = try reader.customers.surviving(try reader.customers.row(key)).name
        }
        if let key = row.evidenceKey, let evidence = try EvidenceTable(connection: reader.connection).row(key: key),
            evidence.content != nil
        {
            evidenceSHA256 = evidence.sha256.hexadecimal
        }
    }
}
