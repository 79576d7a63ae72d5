import PurchaseVerification

/// The originals and customers that new entries touched in a fold, whose rows are compared with those of the ledger.
struct TouchedRows {
    /// Originals or customers that are compared in one read.
    private static let batch = 64

    /// An original or a customer.
    private struct Subject: Sendable {
        let table: String
        let fold: Int64
        /// What identifies it in the ledger: an environment or app, a text, and a second.
        let identity: [LedgerValue]
        /// Its number in the ledger; 0 if the ledger lacks it.
        var ledger: Int64 = 0
    }

    /// The rows of an original or a customer, as conditions by which an index of the ledger finds them.
    private static let conditions: [String: [(table: String, condition: String)]] = [
        "originals": [
            ("originals", "original_key = ?1"), ("transactions", "original_key = ?1"),
            ("ownership_acts", "original_key = ?1"), ("lots", "ground = ?1"), ("takes", "ground = ?1"),
            ("seats", "original_key = ?1"), ("seat_access", "original_key = ?1"),
        ],
        "customers": [
            ("customers", "customer_key = ?1"), ("entitlements", "customer_key = ?1"),
            ("consumptions", "customer_key = ?1"), ("orders", "customer_key = ?1"),
            ("hand_grants", "customer_key = ?1"),
            ("lots", "customer_key = ?1 AND lots.available > 0"), ("lots", "customer_key = ?1 AND lots.available = 0"),
            ("takes", "customer_key = ?1"), ("consumption_consents", "customer_key = ?1"),
            ("offer_signatures", "customer_key = ?1"), ("app_store_claims", "customer_key = ?1"),
        ],
    ]

    private static let identities = [
        "originals": """
        SELECT number, environments.name, original_id, xcode_second FROM touched
        JOIN originals ON originals.original_key = touched.number
        JOIN environments ON environments.environment_key = originals.environment WHERE subject = 'originals'
        """,
        // The ledger has no index of references. An erased customer has no name.
        "customers": """
        SELECT number, apps.name, customers.name, 0 FROM touched
        JOIN customers ON customers.customer_key = touched.number JOIN apps ON apps.app_key = customers.app_key
        WHERE subject = 'customers' AND customers.name IS NOT NULL
        """,
    ]

    private static let numbers = [
        "originals": """
        SELECT original_key FROM originals WHERE original_id = ?2 AND xcode_second = ?3
        AND environment = (SELECT environment_key FROM environments WHERE name = ?1)
        """,
        "customers": """
        SELECT customer_key FROM customers WHERE name = ?2 AND ?3 = 0
        AND app_key = (SELECT app_key FROM apps WHERE name = ?1)
        """,
    ]

    let fold: SQLiteDatabase
    let ledger: any LedgerDatabase

    /// Lets a fold note what it touches from now on.
    static func watch(_ fold: any LedgerConnection) throws(LedgerStorageError) {
        try fold.execute(
            """
            CREATE TABLE IF NOT EXISTS touched
            (subject TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (subject, number)) WITHOUT ROWID
            """, [])
        try fold.execute("DELETE FROM touched", [])
        for table in try StoredTable.all() where !ComparedTables.excluded.contains(table.name) {
            for column in table.columns {
                let subject =
                    column == TableReferences.ground ? "originals" : TableReferences.target(namedBy: column)?.table
                guard let subject, conditions[subject] != nil else { continue }
                for (event, rows) in [("INSERT", ["NEW"]), ("UPDATE", ["OLD", "NEW"]), ("DELETE", ["OLD"])] {
                    // A conflict clause of the statement would take the place of one here.
                    let notes = rows.map { row in
                        """
                        INSERT INTO touched SELECT '\(subject)', \(row).\(column) WHERE \(row).\(column) > 0
                        AND NOT EXISTS (
                            SELECT 1 FROM touched WHERE subject = '\(subject)' AND number = \(row).\(column));
                        """
                    }
                    try fold.execute(
                        """
                        CREATE TRIGGER IF NOT EXISTS touched_\(table.name)_\(column)_\(event) AFTER \(event)
                        ON \(table.name) BEGIN \(notes.joined(separator: " ")) END
                        """, [])
                }
            }
        }
    }

    /// Compares the touched rows of fold and ledger, and those of the fold with the rules.
    ///
    /// - Returns: the findings, and the numbers of originals and of customers.
    func findings() async throws -> (findings: [AuditFinding], originals: Int, customers: Int) {
        var (findings, counts): (Set<AuditFinding>, [String: Int]) = ([], [:])
        for (table, query) in Self.identities {
            let subjects = try await fold.read(.lists) { connection in
                try connection.rows(query, []).map { row in
                    var reader = row.reader
                    return Subject(table: table, fold: try reader.integer(), identity: Array(row.values.dropFirst()))
                }
            }
            counts[table] = subjects.count
            for start in stride(from: 0, to: subjects.count, by: Self.batch) {
                let batch = Array(subjects[start..<min(start + Self.batch, subjects.count)])
                findings.formUnion(try await differences(batch))
                findings.formUnion(try await ruleDifferences(batch))
            }
        }
        return (findings.sorted { $0.detail < $1.detail }, counts["originals"] ?? 0, counts["customers"] ?? 0)
    }

    private typealias Rows = [[LedgerValue]: [LedgerValue]]

    private func differences(_ subjects: [Subject]) async throws -> [AuditFinding] {
        let known = try await ledger.read(.lists) { connection in
            try subjects.map { subject in
                var known = subject
                var reader = try connection.rows(Self.numbers[subject.table] ?? "", subject.identity).first?.reader
                known.ledger = try reader?.integer() ?? 0
                return known
            }
        }
        let tables = Dictionary(uniqueKeysWithValues: try ComparedTables.all().map { ($0.name, $0) })
        var findings: [AuditFinding] = []
        for (table, condition) in Self.conditions[subjects.first?.table ?? ""] ?? [] {
            guard let dump = tables[table] else { continue }
            let (present, expected) = (
                try await ledger.read(.lists) { connection in
                    try known.map { try dump.rows(where: condition, $0.ledger, connection) }
                },
                try await fold.read(.lists) { connection in
                    try known.map { try dump.rows(where: condition, $0.fold, connection) }
                }
            )
            for (present, expected) in zip(present, expected) {
                findings += dump.findings(ledger: present, rebuilt: expected)
            }
        }
        return findings
    }

    private func ruleDifferences(_ subjects: [Subject]) async throws -> [AuditFinding] {
        try await fold.read(.lists) { connection in
            var page = RuleAuditPage(connection)
            for subject in subjects {
                guard subject.table == "customers" else {
                    try page.check(.originals, [[subject.fold]])
                    continue
                }
                try page.check(.customers, [[subject.fold]])
                try page.check(
                    .grants, try HandGrantsTable(connection: connection).rows(of: subject.fold).map { [$0.key] })
                let rows = try EntitlementRow.all("WHERE customer_key = ?1", [.integer(subject.fold)], connection)
                try page.check(.rows, rows.map { [$0.customerKey, $0.productKey, $0.environment, $0.ground] })
            }
            return page.findings
        }
    }
}
