public import PurchaseAPI
import PurchaseVerification

/// The notifications of an app, the newest first.
public struct NotificationList: LedgerList {
    public var app: String
    public var filter: NotificationFilter
    public var cursor: Int64?
    public var limit: Int

    /// A page of notifications.
    public init(
        app: String, filter: NotificationFilter = NotificationFilter(), before cursor: Int64 = .max, limit: Int = 50
    ) {
        (self.app, self.filter, self.cursor, self.limit) = (app, filter, cursor, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> ListPage<NotificationMessage, Int64> {
        try Self.order(try indexes(try reader.app(app), reader), reader.connection)
            .page(after: cursor, limit: limit) { row in
                let details = try row.details.map(NotificationDetails.init(encoded:))
                return matches(details) ? (row, details) : nil
            }.map { try NotificationMessage($0.0, $0.1, reader) }
    }

    static func order(
        _ indexes: [ListIndex], _ connection: any LedgerConnection
    ) -> ListOrder<JournalRow, Int64> {
        ListOrder(connection, indexes, by: ["entry_key"], cursor: \.key)
    }

    /// The entries of an app's notifications; of a type, if it is not `nil`.
    static func index(_ app: Int64, type: String?) -> ListIndex {
        ListIndex(
            "app_key = ?1" + (type == nil ? "" : " AND type = ?2"),
            [.integer(app)] + (type.map { [.text($0)] } ?? []), of: NotificationsTable.name)
    }

    /// The entries of the notifications about purchases that a customer owns now, of those about no known transaction
    /// that were the customer's, and of those whose events about no single purchase told the customer. They are sorted:
    /// a customer has few. 23 is `JournalKind.notification`.
    private static func index(ofCustomer customer: Int64) -> ListIndex {
        let told: [EventType] = [.consentRescinded, .seatUnclaimed, .renewalChanged]
        let types = told.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return ListIndex(
            """
            kind = 23 AND entry_key IN (
                SELECT entry_key FROM journal WHERE customer_key = ?1 AND kind = 23 AND transaction_key IS NULL
                UNION ALL
                SELECT journal.entry_key FROM transactions
                JOIN journal ON journal.transaction_key = transactions.transaction_key
                WHERE owner_key = ?1 AND journal.kind = 23
                UNION ALL
                SELECT entry_key FROM events WHERE customer_key = ?1 AND type IN (\(types)))
            """, customer)
    }

    /// The narrowest indexes for the filter.
    private func indexes(_ app: RegistryApp, _ reader: LedgerTransaction) throws -> [ListIndex] {
        if let id = filter.transactionID {
            // They are sorted: one subscription has few.
            return try reader.rows(transaction: id, app).map {
                ListIndex(
                    """
                    transaction_key IN (SELECT transaction_key FROM transactions WHERE original_key = ?1) AND kind = 23
                    """, $0.originalKey)
            }
        }
        if let name = filter.customerID {
            // One can concern several customers who were merged since.
            return try reader.customers.family(name, appKey: app.key).keys.map { Self.index(ofCustomer: $0) }
        }
        guard let type = filter.type else { return [Self.index(app.key, type: nil)] }
        return NotificationType(rawValue: type).names.map { Self.index(app.key, type: $0.rawValue) }
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
        (self.type, self.subtype, self.customerID, self.transactionID) = (type, subtype, customerID, transactionID)
    }
}

extension NotificationMessage {
    /// A received notification. An erased one has neither an id nor evidence.
    init(
        _ row: JournalRow, _ details: NotificationDetails?, _ reader: LedgerTransaction
    ) throws(LedgerStorageError) {
        self.init(receivedAt: "\(row.at)", entryID: row.id.text)
        (notificationID, type, subtype) = (details?.notificationID, details?.usualType, details?.subtype)
        signedAt = details?.signedAt.map { "\(Timestamp(millisecondsSince1970: $0))" }
        (environment, status) = (details?.environment, details?.status)
        content = details.flatMap { NotificationFacts.Content(rawValue: $0.content) }?.rawValue
        (refundReason, transactionID) = (details?.refundReason, details?.transactionID)
        originalTransactionID = details?.originalTransactionID
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
