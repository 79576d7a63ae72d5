public import PurchaseVerification

public import struct Foundation.UUID

/// A received notification.
public struct NotificationRecord: Sendable, Equatable {
    /// The entry of its first delivery.
    public var entryID: UUID
    /// When the first delivery was recorded.
    public var receivedAt: Timestamp
    /// Apple's `notificationUUID`, or `sha256:` and the hash of its bytes; `nil` after an erasure.
    public var notificationID: String?
    public var type: String?
    public var subtype: String?
    public var signedAt: Timestamp?
    public var environment: String?
    public var content: NotificationFacts.Content?
    public var status: Int64?
    public var refundReason: String?
    public var originalTransactionID: String?
    public var transactionID: String?
    /// The owner of the purchase when it was received, after all merges.
    public var customerID: String?
    /// SHA-256 of its bytes, in hexadecimal; `nil` after an erasure.
    public var evidenceSHA256: String?
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

/// The notifications of an app, the newest first.
public struct NotificationList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of notifications that a page reads. With a filter that excludes most of them, a page can be shorter than its
    /// limit; the next page continues.
    static let readRows = 512

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
        let app = try reader.app(app)
        let keys = try entries(app, reader)
        var found: [NotificationRecord] = []
        var place = before
        for key in keys {
            guard found.count < max(1, limit) else { return Answer(notifications: found, next: place) }
            place = key
            guard let row = try JournalTable(connection: reader.connection).row(key: key) else { continue }
            let record = try NotificationRecord(row, reader)
            if matches(record) { found.append(record) }
        }
        return Answer(notifications: found, next: keys.count < Self.readRows ? nil : place)
    }

    /// The entries that the narrowest index gives, the newest first.
    private func entries(_ app: RegistryApp, _ reader: LedgerTransaction) throws -> [Int64] {
        let limit = Int64(Self.readRows)
        let journal = JournalTable(connection: reader.connection)
        if let id = filter.transactionID {
            let originals = OriginalsTable(connection: reader.connection)
            var keys: [Int64] = []
            for row in try reader.transactions.rows(id: id) where try originals.row(row.originalKey).appKey == app.key {
                for sibling in try reader.transactions.rows(originalKey: row.originalKey) {
                    keys += try journal.notifications(transaction: sibling.key, before: before, limit: limit)
                }
            }
            return Array(Set(keys).sorted(by: >).prefix(Self.readRows))
        }
        if let name = filter.customerID {
            guard let named = try reader.customers.named(name, appKey: app.key) else {
                throw LedgerRefusal(.customerUnknown, expected: name)
            }
            var keys: [Int64] = []
            for customer in try reader.customers.family(of: named, limit: EventSearch.largestFamily) {
                keys += try journal.notifications(customer: customer, before: before, limit: limit)
            }
            return Array(keys.sorted(by: >).prefix(Self.readRows))
        }
        return try NotificationsTable(connection: reader.connection).entries(
            appKey: app.key, type: filter.type, before: before, limit: limit)
    }

    private func matches(_ record: NotificationRecord) -> Bool {
        (filter.type.map { $0.isSame(as: record.type) } ?? true)
            && (filter.subtype.map { $0.isSame(as: record.subtype) } ?? true)
            && (filter.transactionID.map {
                $0.isSame(as: record.transactionID) || $0.isSame(as: record.originalTransactionID)
            } ?? true)
    }
}

extension NotificationRecord {
    init(_ row: JournalRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        let details = try row.details.map(NotificationDetails.init(encoded:))
        entryID = row.id
        receivedAt = row.at
        notificationID = details?.notificationID
        type = details?.type
        subtype = details?.subtype
        signedAt = details?.signedAt.map(Timestamp.init(millisecondsSince1970:))
        environment = details?.environment
        content = details.flatMap { NotificationFacts.Content(rawValue: $0.content) }
        status = details?.status
        refundReason = details?.refundReason
        originalTransactionID = details?.originalTransactionID
        transactionID = details?.transactionID
        if let key = row.customerKey {
            customerID = try reader.customers.surviving(try reader.customers.row(key)).name
        }
        if let key = row.evidenceKey, let evidence = try EvidenceTable(connection: reader.connection).row(key: key),
            evidence.content != nil
        {
            evidenceSHA256 = evidence.sha256.hexadecimal
        }
    }
}
