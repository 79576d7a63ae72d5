import PurchaseVerification

/// The rows of one app, which have their numbers in its new ledger, too.
struct AppRows: Sendable {
    private static let pageRows = 2048
    private static let all = "1 = 1"
    /// The numbers of events that the source can give after the copy to readers who are still connected, by evidence of
    /// other apps. Streams end within ten seconds.
    private static let laterEvents: Int64 = 100_000
    private static let moved = JournalKind.appMoved.rawValue

    let app: Int64
    let name: String
    /// The details of entry 0.
    let first: AppMovedDetails
    let at: Timestamp
    let key: EntryKey
    private let tables: [StoredTable]

    init(app: RegistryApp, first: AppMovedDetails, at: Timestamp, key: EntryKey) throws(LedgerStorageError) {
        (self.app, name, self.first, self.at, self.key) = (app.key, app.settings.id, first, at, key)
        tables = try StoredTable.all()
    }

    /// The condition of the rows of a table that are copied; `nil` for a table that is not.
    ///
    /// - Throws: for a table that does not say whose its rows are.
    private func condition(of table: StoredTable) throws(LedgerStorageError) -> String? {
        let own = "SELECT 1 FROM journal WHERE journal.entry_key = \(table.name).entry_key AND journal.app_key = \(app)"
        switch table.name {
        // The log is new, and the people who sign in are others. The journal and its evidence are copied by its leaves.
        case "log_entries", "log_tiles", "log_state", "readiness", "operators", "operator_sessions", "operator_log",
            "hourly_counts", "journal", "evidence", "evidence_parts":
            return nil
        // Rows of other evidence are left out, and environments that only other apps name are removed afterwards.
        case "environments", "rules", "renewals", "notification_bodies": return Self.all
        case "settings_history": return "EXISTS (\(own) AND journal.kind <> \(Self.moved))"
        default: break
        }
        if table.columns.contains("app_key") { return "app_key = \(app)" }
        for (column, parent) in [
            ("customer_key", "customers"), ("original_key", "originals"), ("webhook_key", "webhooks"),
            ("key_id", "api_keys"),
        ] where table.columns.contains(column) {
            return """
                EXISTS (SELECT 1 FROM \(parent) WHERE \(parent).\(column) = \(table.name).\(column)
                AND \(parent).app_key = \(app))
                """
        }
        guard table.columns.contains("entry_key") else {
            throw LedgerStorageError(.other, "the table \(table.name) does not say whose its rows are")
        }
        return "EXISTS (\(own))"
    }

    /// Writes the rows to a file.
    ///
    /// - Throws: `CopyError`, also if the entries of the source are not those of the checkpoint that the first one
    ///   names.
    func write(_ source: any LedgerConnection, _ dialect: any LedgerDialect, to file: BackupFile) throws {
        try file.write { copy in
            try copy.execute("BEGIN", [])
            try LedgerMigrations.create(copy, SQLiteDialect())
            for row in try source.rows(
                "SELECT number, title, applied_at FROM schema_migrations WHERE number <= ?1",
                [.integer(LedgerMigrations.current)])
            {
                try copy.execute(
                    "INSERT INTO schema_migrations (number, title, applied_at) VALUES (?1, ?2, ?3)", row.values)
            }
            for table in tables where table.isSeeded { try copy.execute("DELETE FROM \(table.name)", []) }
            try copyJournal(source, dialect, copy)
            for table in tables {
                guard let filter = try condition(of: table) else { continue }
                try TablePages(table: table, limit: Self.pageRows, filter: filter).forEach(source) { rows in
                    // Other rows are computed again, and then their evidence is the app's own.
                    let isOfEvidence = filter == Self.all || table.name == "app_receipts"
                    let own = isOfEvidence ? try rows.filter(ofCopied(rows, table, copy)) : rows
                    try TablePages(table: table, limit: Self.pageRows).insert(own, most: 1, copy)
                }
            }
            let event = try source.integers("SELECT coalesce(max(event_key), 0) FROM events", []).first ?? 0
            try begin(copy, after: event, erased: erased(source, copy))
            try remove(copy)
            try copy.execute("COMMIT", [])
        }
    }

    /// Copies the entries whose leaves name the app, and their evidence. No column decides: what servers did not write
    /// can neither leave an entry out nor add one.
    private func copyJournal(
        _ source: any LedgerConnection, _ dialect: any LedgerDialect, _ copy: any LedgerConnection
    ) throws {
        guard let table = tables.first(where: { $0.name == "journal" }),
            let number = table.columns.firstIndex(of: "entry_key"),
            let bytes = table.columns.firstIndex(of: "leaf"), let appKey = table.columns.firstIndex(of: "app_key"),
            let evidence = table.columns.firstIndex(of: "evidence_key")
        else { throw Self.noTable("journal") }
        let pages = TablePages(table: table, limit: Self.pageRows)
        var (entries, parts, tree): (Int64, Set<Int64>, MerkleAppender) = (0, [], MerkleAppender())
        try pages.forEach(source) { rows in
            entries += Int64(rows.count)
            let signed = try signed(rows.map { $0.values[number] }, source)
            let own = try rows.filter { row in
                guard case .blob(let bytes) = row.values[bytes], let leaf = JournalLeaf(bytes: bytes),
                    leaf.app.isSame(as: name) == (row.values[appKey] == .integer(app))
                else {
                    throw CopyError(
                        .appDiffers,
                        "the app of an entry differs from its leaf (\(row.values[number])); run assay audit verify on the source"
                    )
                }
                if signed.contains(row.values[number]) { _ = tree.append(.leaf(bytes)) }
                return leaf.app.isSame(as: name)
                    ? leaf.kind != .appMoved : leaf.app.isEmpty && leaf.kind == .rules
            }
            try pages.insert(own, most: 1, copy)
            let named = own.compactMap { if case .integer(let key) = $0.values[evidence] { key } else { nil } }
            parts.formUnion(try copyEvidence(Set(named), source, copy))
        }
        parts.formUnion(try copyEvidence(try refused(source, copy), source, copy))
        try copyRows(parts, of: "evidence_parts", source, copy) { _ in }
        guard try pages.count(source, withoutIndexes: dialect) == entries else {
            throw BackupFile.differs("the journal has other entries than its primary key (REINDEX)")
        }
        if let from = first.from, tree.size != from.size || tree.root().bytes.hexadecimal != from.root {
            throw CopyError(
                .logDiffers,
                """
                the entries of the source have another root than \(from.origin) signed at \(from.size) leaves; run assay audit \
                verify on it
                """)
        }
    }

    /// The entries of a page that the checkpoint of the first entry covers. Their order is that of their leaves.
    private func signed(
        _ entries: [LedgerValue], _ source: any LedgerConnection
    ) throws(LedgerStorageError) -> Set<LedgerValue> {
        guard let first = entries.first, let last = entries.last, let from = self.first.from else { return [] }
        let rows = try source.rows(
            "SELECT entry_key FROM log_entries WHERE entry_key >= ?1 AND entry_key <= ?2 AND leaf < ?3",
            [first, last, .integer(from.size)])
        return Set(rows.map { $0.values[0] })
    }

    /// The keys of the evidence that only entries of refusals name, by its hashes.
    private func refused(_ source: any LedgerConnection, _ copy: any LedgerConnection) throws -> Set<Int64> {
        let (erasures, evidence) = (try Erasures(of: copy), EvidenceTable(connection: source))
        var keys: Set<Int64> = []
        for entry in try JournalTable(connection: copy).rows(kind: Int64(JournalKind.refusals.rawValue)) {
            guard let details = erasures.entries[entry.id] ?? entry.details else { continue }
            for hash in try RefusalsDetails(encoded: details).kept {
                if let row = try evidence.row(sha256: [UInt8](hexadecimal: hash)) { keys.insert(row.key) }
            }
        }
        return keys
    }

    /// The hashes of copied evidence whose bytes erasures of other apps deleted. The new ledger lacks their entries.
    private func erased(_ source: any LedgerConnection, _ copy: any LedgerConnection) throws -> [String] {
        let (all, own) = (try Erasures(of: source).evidence, try Erasures(of: copy).evidence)
        let rows = try copy.rows("SELECT sha256 FROM evidence WHERE content IS NULL ORDER BY sha256", [])
        return try rows.map { row in
            var reader = row.reader
            return try reader.blob()
        }.filter { all.contains($0) && !own.contains($0) }.map(\.hexadecimal)
    }

    /// Copies evidence.
    ///
    /// - Returns: the shared parts that it uses.
    private func copyEvidence(
        _ all: Set<Int64>, _ source: any LedgerConnection, _ copy: any LedgerConnection
    ) throws -> Set<Int64> {
        guard let content = tables.first(where: { $0.name == "evidence" })?.columns.firstIndex(of: "content") else {
            throw Self.noTable("evidence")
        }
        var parts: Set<Int64> = []
        try copyRows(all, of: "evidence", source, copy) { row in
            guard case .blob(let bytes) = row.values[content] else { return }
            parts.formUnion(StoredContent.parts(of: bytes))
        }
        return parts
    }

    private static func noTable(_ name: String) -> LedgerStorageError {
        LedgerStorageError(.other, "the schema has no table \(name) with the columns that are copied")
    }

    /// Copies the rows of a table with some numbers, of which a statement names only a page.
    private func copyRows(
        _ all: Set<Int64>, of name: String, _ source: any LedgerConnection, _ copy: any LedgerConnection,
        _ copied: (LedgerRow) -> Void
    ) throws {
        guard let table = tables.first(where: { $0.name == name }), let key = table.key.first else {
            throw Self.noTable(name)
        }
        var keys = all.sorted()[...]
        while !keys.isEmpty {
            let filter = "\(key) IN (\(keys.prefix(Self.pageRows).map(String.init).joined(separator: ", ")))"
            keys = keys.dropFirst(Self.pageRows)
            let pages = TablePages(table: table, limit: Self.pageRows, filter: filter)
            try pages.forEach(source) { rows in
                // The table ignores what it has.
                try pages.insert(rows, most: 1, copy)
                rows.forEach(copied)
            }
        }
    }

    /// Whether the evidence of a row, if it has any, was copied.
    private func ofCopied(
        _ rows: [LedgerRow], _ table: StoredTable, _ copy: any LedgerConnection
    ) throws -> (LedgerRow) -> Bool {
        guard let column = table.columns.firstIndex(of: "evidence_key") else { return { _ in true } }
        let keys = Array(Set(rows.map { $0.values[column] }))
        let known = try copy.rows(
            "SELECT evidence_key FROM evidence WHERE evidence_key IN (\(LedgerValue.places(keys.count)))", keys)
        let copied = Set(known.map { $0.values[0] })
        return { copied.contains($0.values[column]) }
    }

    /// Writes the first entry, and a log without leaves in which it is the first to be sealed.
    ///
    /// - Parameters:
    ///   - event: the number of the source's last event.
    ///   - erased: the hashes of evidence that other apps erased.
    private func begin(_ copy: any LedgerConnection, after event: Int64, erased: [String]) throws {
        var first = first
        let reserved = event + Self.laterEvents
        first.from?.event = reserved
        first.from?.erased = erased
        try EventsTable(connection: copy).reserve(reserved, entry: 0)
        let (id, salt, details) = (TimeOrderedID.next(at: at), RandomBytes.sixteen(), try first.encoded())
        let leaf = JournalLeaf(
            id: id, at: at, kind: .appMoved, app: "", customer: nil, order: nil, code: "", evidence: nil,
            details: Journal.digest(salt: salt, details: details))
        var row = JournalRow(
            id: id, leaf: leaf.bytes, salt: salt, details: details, appKey: 0, kind: Int64(Self.moved), at: at)
        row.mac = key.code(of: row.leaf)
        let values = [.integer(0)] + row.values
        try copy.execute(
            "INSERT INTO journal (\(JournalRow.table.columns)) VALUES (\(LedgerValue.places(values.count)))", values)
        try copy.execute(
            """
            INSERT INTO log_state (log_key, size, root, sealed_up_to, refused, entry_key_id) VALUES (1, 0, ?1, -1, 0, ?2)
            """, [.blob(MerkleAppender().root().bytes), .text(key.id)])
    }

    /// Removes environments that only other apps name, and the notes of the move.
    private func remove(_ copy: any LedgerConnection) throws {
        let used = tables.filter { $0.columns.contains("environment") }
            .map { "SELECT environment FROM \($0.name) WHERE environment IS NOT NULL" }.joined(separator: " UNION ")
        try copy.execute(
            "DELETE FROM environments WHERE environment_key > 3 AND environment_key NOT IN (\(used))", [])
        try copy.execute("UPDATE apps SET moved_entry = NULL", [])
        try copy.execute("UPDATE webhooks SET lease_owner = NULL, lease_until = NULL", [])
        try copy.execute(
            "UPDATE webhooks SET disabled_at = NULL, disabled_reason = NULL WHERE disabled_reason = ?1",
            [.text(AppMovedDetails.reason)])
        // They are numbered without gaps.
        let numbers = try copy.integers("SELECT settings_key FROM settings_history ORDER BY settings_key", [])
        for (index, number) in numbers.enumerated() where number != Int64(index + 1) {
            try copy.execute(
                "UPDATE settings_history SET settings_key = ?1 WHERE settings_key = ?2",
                [.integer(Int64(index + 1)), .integer(number)])
        }
    }
}
