import PurchaseVerification

import struct Foundation.UUID

struct EventsTable {
    let connection: any LedgerConnection

    func insert(_ row: EventRow) throws(LedgerStorageError) {
        _ = try EventRow.table.insert(row.values, connection)
    }

    /// Whether it was told that a customer claimed a purchase of another one.
    func hasConflict(of customer: Int64, with owner: Int64) throws(LedgerStorageError) -> Bool {
        try !connection.rows(
            "SELECT 1 FROM events WHERE customer_key = ?1 AND type = ?2 AND former_key = ?3 LIMIT 1",
            [.integer(customer), .text(EventType.claimConflict.rawValue), .integer(owner)]
        ).isEmpty
    }

    /// Whether events tell somebody else of a purchase that one of some customers had before, or told it until the
    /// erasure of the next owner. It scans the app's events; only an erasure calls it.
    func tellOthers(ofFormer customers: Set<Int64>, appKey: Int64) throws(LedgerStorageError) -> Bool {
        for customer in customers.sorted() {
            let moves = "SELECT entry_key FROM ownership_acts WHERE former_key = ?1 LIMIT 1"
            guard try connection.rows(moves, [.integer(customer)]).isEmpty else { return true }
            for row in try connection.rows(
                "SELECT DISTINCT customer_key FROM events WHERE app_key = ?1 AND former_key = ?2 AND type <> ?3",
                [.integer(appKey), .integer(customer), .text(EventType.claimConflict.rawValue)])
            {
                var reader = row.reader
                if let told = try reader.optionalInteger(), !customers.contains(told) { return true }
            }
        }
        return false
    }

    /// Reduces a customer's events to their type and time. Their numbers stay, since readers continue after a number.
    /// It scans the app's events; only an erasure calls it.
    func erase(of customer: Int64, appKey: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "events",
            """
            UPDATE events SET former_key = NULL, environment = NULL, product_key = NULL, transaction_key = NULL,
            original_key = NULL, order_key = NULL, figures = ?3 WHERE app_key = ?1 AND customer_key = ?2
            """, [.integer(appKey), .integer(customer), .blob(EventFigures().encoded)])
    }

    /// The events of some indexes, by their keys.
    func order(_ indexes: [ListIndex], isAscending: Bool = true) -> ListOrder<NamedEvent, Int64> {
        ListOrder(connection, indexes, by: ["events.event_key"], isAscending: isAscending, cursor: \.key)
    }

    /// The events of an app up to a key.
    static func ofApp(_ app: Int64, upTo newest: Int64) -> ListIndex {
        ListIndex("events.app_key = ?1 AND events.event_key <= ?2", app, newest)
    }

    /// The events of a customer up to a key.
    static func ofCustomer(_ customer: Int64, upTo newest: Int64) -> ListIndex {
        ListIndex("events.customer_key = ?1 AND events.event_key <= ?2", customer, newest)
    }

    /// The entries of a customer's events about a transaction, the newest first.
    ///
    /// - Parameters:
    ///   - customers: the customer, and everybody who was merged into them: events keep the customer whom they named.
    ///   - kind: the kind of entries that are left out.
    func entries(
        of customers: [Int64], transaction: Int64, besides kind: Int64, limit: Int
    ) throws(LedgerStorageError) -> [UUID] {
        var found: [(event: Int64, entry: UUID)] = []
        for customer in customers {
            for row in try connection.rows(
                """
                SELECT events.event_key, journal.entry_id FROM events
                JOIN journal ON journal.entry_key = events.entry_key
                WHERE events.customer_key = ?1 AND events.transaction_key = ?2 AND journal.kind <> ?4
                ORDER BY events.event_key DESC LIMIT ?3
                """, [.integer(customer), .integer(transaction), .integer(Int64(limit)), .integer(kind)])
            {
                var reader = row.reader
                found.append((try reader.integer(), try reader.id()))
            }
        }
        var entries: [UUID] = []
        for (_, entry) in found.sorted(by: { $0.event > $1.event }).prefix(limit) where !entries.contains(entry) {
            entries.append(entry)
        }
        return entries
    }
}

/// The changes of the ledger in order, each derived from a journal entry. A row refers to other rows by keys, which are
/// small and never change their meaning; ids and names are read from those rows. So no event repeats a customer's name.
struct EventRow: Sendable {
    static let table = Table(
        "events", key: "event_key",
        columns: [
            "app_key", "entry_key", "type", "customer_key", "former_key", "environment", "product_key",
            "transaction_key", "original_key", "order_key", "figures",
        ])

    let type: EventType
    let appKey: Int64
    let entryKey: Int64
    /// The customer whose purchase or order changed.
    var customerKey: Int64?
    /// The owner before a transfer, the customer before a merge, or the owner of a purchase that the customer claimed.
    var formerKey: Int64?
    /// `nil` if it is that of the transaction.
    var environment: Int64?
    var productKey: Int64?
    var transactionKey: Int64?
    var originalKey: Int64?
    var orderKey: Int64?
    var figures = EventFigures()

    init(_ type: EventType, appKey: Int64, entryKey: Int64) {
        self.type = type
        self.appKey = appKey
        self.entryKey = entryKey
    }

    var values: [LedgerValue] {
        [
            .integer(appKey), .integer(entryKey), .text(type.rawValue), .integer(customerKey), .integer(formerKey),
            .integer(environment), .integer(productKey), .integer(transactionKey), .integer(originalKey),
            .integer(orderKey), .blob(figures.encoded),
        ]
    }
}

/// An event with the ids and names of the rows that it refers to.
struct NamedEvent: ListedRow {
    let key: Int64
    let customerKey: Int64?
    let originalKey: Int64?
    let isAnnounced: Bool
    /// Whether the customer is a tester now.
    let isTester: Bool
    /// Without the app, and whether it counts.
    private(set) var content: EventContent

    /// The columns of an event and of the rows that it refers to.
    static let columns = """
        events.event_key, events.customer_key, events.original_key, events.type, journal.at, journal.entry_id, customers.name, former.name,
        environments.name, products.product_id, transactions.transaction_id, originals.original_id, orders.order_id,
        events.figures, transactions.facts, testers.customer_key
        """

    static let selection = "SELECT \(columns) FROM events \(joins)"

    /// The rows that an event refers to. An event whose row was removed is still returned. Left joins keep the order of
    /// the index.
    static let joins = """
        LEFT JOIN journal ON journal.entry_key = events.entry_key
        LEFT JOIN customers ON customers.customer_key = events.customer_key
        LEFT JOIN customers AS former ON former.customer_key = events.former_key
        LEFT JOIN products ON products.product_key = events.product_key
        LEFT JOIN transactions ON transactions.transaction_key = events.transaction_key
        LEFT JOIN originals ON originals.original_key = events.original_key
        LEFT JOIN orders ON orders.order_key = events.order_key
        LEFT JOIN environments ON environments.environment_key = coalesce(events.environment, transactions.environment)
        LEFT JOIN testers ON testers.app_key = events.app_key AND testers.customer_key = events.customer_key
        """

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        customerKey = try reader.optionalInteger()
        originalKey = try reader.optionalInteger()
        content = EventContent(
            number: key, type: try reader.text(), at: try reader.time(), app: "", entryID: try reader.id())
        content.customerID = try reader.optionalText()
        let other = try reader.optionalText()
        if content.type == EventType.claimConflict.rawValue {
            content.ownerCustomerID = other
        } else {
            content.formerCustomerID = other
        }
        content.environment = try reader.optionalText()
        content.productID = try reader.optionalText()
        content.transactionID = try reader.optionalText()
        content.originalTransactionID = try reader.optionalText()
        content.orderID = try reader.optionalID()
        let encoded = try reader.blob()
        let figures: EventFigures
        do throws(FactsDecodingError) {
            figures = try EventFigures(encoded: encoded)
        } catch {
            throw LedgerStorageError(.corrupt, "the figures of event \(key) cannot be read: \(error)")
        }
        isAnnounced = figures.isAnnounced
        (content.units, content.balance, content.shortfall) = (figures.units, figures.balance, figures.shortfall)
        (content.until, content.reason) = (figures.until, figures.reason)
        if content.type.hasPrefix("external_purchase_") {
            content.externalPurchaseID = figures.submission
        } else {
            content.submissionID = figures.submission
        }
        if let renewal = figures.renewal {
            content.changed = renewal.changed.map(\.rawValue)
            (content.renewal, content.formerRenewal) = (renewal.current, renewal.former)
        }
        if let facts = try reader.optionalBlob(), let id = content.transactionID {
            let environment = AppStoreEnvironment(content.environment ?? "")
            let key = TransactionKey(environment: environment, transactionID: ExactText(id))
            do throws(FactsDecodingError) {
                let price = try ObservedTransaction(key: key, encoded: facts).price
                (content.price, content.currency) = (price?.milliunits, price?.currency?.string)
            } catch {
                throw LedgerStorageError(error, of: "transaction \(id)")
            }
        }
        isTester = try reader.optionalInteger() != nil
    }

    /// The content under the settings of its app.
    func content(of app: RegisteredApp) -> EventContent {
        var content = self.content
        content.app = app.id
        content.counts = content.environment.map {
            app.sandboxAccess.counts(AppStoreEnvironment($0), isTester: isTester)
        }
        // As in the customer's entitlements: what does not count gives nothing.
        if content.counts == false {
            (content.balance, content.shortfall) = (content.balance.map { _ in 0 }, content.shortfall.map { _ in 0 })
        }
        return content
    }

    /// Events of one lane are delivered in order: those of a customer, and those of an original that nobody owns.
    /// Events of neither have one lane.
    var lane: Int64 { customerKey ?? originalKey.map { -$0 } ?? 0 }
}
