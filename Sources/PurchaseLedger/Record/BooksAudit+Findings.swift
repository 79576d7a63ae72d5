import PurchaseVerification

extension BooksAudit {
    /// Compares the books with what the events say. What follows from these, the other entitlements and the owners of original
    /// transactions, is compared with them.
    func findings(_ connection: any LedgerConnection, pageSize: Int) throws(LedgerStorageError) -> [Audit.Finding] {
        var comparison = BooksComparison(connection: connection, pageSize: pageSize)
        try comparison.compare(
            "purchases", RecordedPurchase.columns, key: ["app", "environment", "transaction_id"],
            expected: purchases.mapValues { Expected(name: $0.event.transactionID ?? "", image: $0.image) }
        ) { row throws(LedgerStorageError) in
            let purchase = try RecordedPurchase(row)
            return BooksComparison.Row(
                key: [.text(purchase.app), .text(purchase.environment.name), .text(purchase.transactionID)],
                name: purchase.transactionID, image: purchase.image)
        }
        try comparison.compare(
            "orders", Order.columns, key: ["order_id"],
            expected: orders.mapValues { Expected(name: $0.event.orderID ?? "", image: $0.image) }
        ) { row throws(LedgerStorageError) in
            let order = try Order(row)
            return BooksComparison.Row(key: [.text(order.id)], name: order.id, image: order.image)
        }
        try comparison.compare(
            "consumptions", "app, customer_id, consumption_id, product_id, environment, quantity, consumed_at",
            key: ["app", "customer_id", "consumption_id"],
            expected: consumptions.mapValues { event in
                Expected(
                    name: event.detail ?? "",
                    image: HashChain.encoding([
                        .text(event.productID), .text(event.environment), .integer(event.quantity), .time(event.at),
                    ]))
            }
        ) { row in
            BooksComparison.Row(row, keyCount: 3, name: 2)
        }
        try comparison.compare(
            "withdrawals", "app, environment, transaction_id, product_id, submission_id, kind, withdrawn_at",
            key: ["app", "environment", "transaction_id"],
            expected: withdrawals.mapValues { event in
                Expected(
                    name: event.transactionID ?? "",
                    image: Self.image(event.productID, event.submissionID, event.detail))
            }
        ) { row throws(LedgerStorageError) in
            var reader = RowReader(LedgerRow(values: Array(row.values.dropFirst(3))))
            let (product, submission) = (try reader.text(), try reader.text())
            var compared = BooksComparison.Row(row, keyCount: 3, name: 2)
            compared.image = Self.image(product, submission, "\(try reader.text()) \(try reader.time())")
            return compared
        }
        try comparison.compare(
            "api_keys", "\(APIKey.columns), secret_sha256", key: ["key_id"],
            expected: keys.mapValues { key in
                Expected(
                    name: key.event.detail ?? "",
                    image: HashChain.encoding([
                        .text(key.event.app), .text(key.event.detail), .time(key.event.at), .time(key.revokedAt),
                    ]))
            }
        ) { row throws(LedgerStorageError) in
            let key = try APIKey(row)
            var compared = BooksComparison.Row(row, keyCount: 1, name: 0)
            compared.image = nil
            if case .text(let secret)? = row.values.last {
                compared.image = HashChain.encoding([
                    .text(key.app), .text(key.terms(secretSHA256: secret)), .time(key.createdAt), .time(key.revokedAt),
                ])
            }
            return compared
        }
        try compareEntitlements(&comparison)
        try comparison.compareOwners()
        return comparison.findings
    }

    private func compareEntitlements(_ comparison: inout BooksComparison) throws(LedgerStorageError) {
        let reader = LedgerReader(connection: comparison.connection, now: Timestamp(millisecondsSince1970: 0))
        var expected: [Image: Expected] = [:]
        let asRecorded = Self.image("as recorded")
        for purchase in purchases.values {
            let event = purchase.event
            let key = Self.image(event.app, purchase.customerID, event.productID, event.environment)
            expected[key] = Expected(
                name: "\(purchase.customerID ?? "") \(event.productID ?? "")", image: asRecorded)
        }
        let balances = balances
        try comparison.compare(
            "entitlements", Entitlement.columns, key: ["app", "customer_id", "product_id", "environment"],
            expected: expected
        ) { row throws(LedgerStorageError) in
            let found = try Entitlement(row)
            var isAsRecorded = found.productKind == .consumable
            if isAsRecorded {
                let balance = balances[HashChain.encoding(found.key.values)]
                isAsRecorded =
                    found.balance == balance?.count && found.transactionID.isSame(as: balance?.transactionID)
                    && found.recordedState == .active
            } else if let ground = try reader.ground(of: found.key) {
                isAsRecorded =
                    found.recordedState == .active && found.balance == 0 && found.until == ground.until
                    && found.since == ground.since && found.transactionID.isSame(as: ground.source.transactionID)
                    && found.productKind == ground.source.productKind
            } else {
                // Whoever had something once keeps the row, in a state that grants nothing.
                isAsRecorded = found.recordedState != .active && found.balance == 0
            }
            return BooksComparison.Row(
                key: found.key.values, name: "\(found.key.customerID) \(found.key.productID)",
                image: isAsRecorded ? asRecorded : nil, isLeftOver: found.recordedState == .moved)
        }
    }
}

/// Pages through the tables of the books, and notes what is not as it must be.
struct BooksComparison {
    let connection: any LedgerConnection
    let pageSize: Int
    private(set) var findings: [Audit.Finding] = []

    init(connection: any LedgerConnection, pageSize: Int) {
        self.connection = connection
        self.pageSize = pageSize
    }

    /// A row of the books.
    struct Row {
        let key: [LedgerValue]
        let name: String
        /// `nil` if it cannot be right.
        var image: BooksAudit.Image?
        /// It may be there though nothing is expected of it any more.
        var isLeftOver = false

        init(key: [LedgerValue], name: String, image: BooksAudit.Image?, isLeftOver: Bool = false) {
            self.key = key
            self.name = name
            self.image = image
            self.isLeftOver = isLeftOver
        }

        /// A row that begins with the columns of its key and is compared as it is.
        init(_ row: LedgerRow, keyCount: Int, name: Int) {
            var text = ""
            if name < row.values.count, case .text(let found) = row.values[name] { text = found }
            self.init(
                key: Array(row.values.prefix(keyCount)), name: text,
                image: HashChain.encoding(Array(row.values.dropFirst(keyCount))))
        }
    }

    /// Reads a table in the order of its primary key.
    mutating func compare(
        _ table: String, _ columns: String, key: [String], expected: [BooksAudit.Image: BooksAudit.Expected],
        _ read: (LedgerRow) throws(LedgerStorageError) -> Row
    ) throws(LedgerStorageError) {
        var missing = expected
        let names = key.joined(separator: ", ")
        let places = (1...key.count).map { "?\($0)" }.joined(separator: ", ")
        var last: [LedgerValue] = key.map { _ in .text("") }
        while true {
            let rows = try connection.rows(
                """
                SELECT \(columns) FROM \(table) WHERE (\(names)) > (\(places))
                ORDER BY \(names) LIMIT ?\(key.count + 1)
                """, last + [.integer(Int64(pageSize))])
            for content in rows {
                let row = try read(content)
                last = row.key
                let expected = missing.removeValue(forKey: HashChain.encoding(row.key))
                if expected == nil, row.isLeftOver, row.image != nil { continue }
                if expected?.image != row.image || expected == nil {
                    note(table, row.name, expected == nil ? .unrecorded : .changed)
                }
            }
            if rows.count < pageSize { break }
        }
        for name in missing.values.map(\.name).sorted() { note(table, name, .removed) }
    }

    /// Each original transaction has one owner, and all that was bought under it is his.
    mutating func compareOwners() throws(LedgerStorageError) {
        let same = """
            purchases.app = original_purchases.app AND purchases.environment = original_purchases.environment
            AND purchases.original_transaction_id = original_purchases.original_transaction_id
            AND purchases.customer_id = original_purchases.customer_id
            """
        for (table, other, column) in [
            ("purchases", "original_purchases", "transaction_id"),
            ("original_purchases", "purchases", "original_transaction_id"),
        ] {
            for row in try connection.rows(
                """
                SELECT \(column) FROM \(table) WHERE NOT EXISTS (SELECT 1 FROM \(other) WHERE \(same)) ORDER BY \(column)
                """, [])
            {
                var reader = RowReader(row)
                note(table, try reader.text(), .changed)
            }
        }
    }

    private mutating func note(_ table: String, _ row: String, _ kind: Audit.Finding.Kind) {
        let finding = Audit.Finding(table: table, row: row, kind: kind)
        if !findings.contains(finding) { findings.append(finding) }
    }
}
