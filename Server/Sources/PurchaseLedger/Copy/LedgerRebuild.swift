public import Foundation
import PurchaseVerification

extension PurchaseLedger {
    /// Writes the ledger again to a new SQLite file: the tables that the journal determines are computed from the
    /// journal and its evidence, all others are copied. The ledger itself is only read.
    ///
    /// Nothing is written if the log, the journal or its evidence has a finding, because purchases would be lost.
    ///
    /// - Parameters:
    ///   - path: the new file. It gets its name when it is complete.
    ///   - checkpoints: the checkpoints that the log must agree with.
    ///   - folder: where the tables are computed in a temporary database.
    ///   - progress: called after each page of the journal.
    /// - Throws: `SQLiteBackup.Failure`, `LedgerStorageError`.
    public func rebuild(
        to path: String, _ checkpoints: [Checkpoint] = [], in folder: URL = FileManager.default.temporaryDirectory,
        progress: @escaping @Sendable (AuditProgress) -> Void = { _ in }
    ) async throws -> AuditOutcome {
        try BackupFile(path: path).requireAbsent()
        let (ledger, log) = (underAudit, try await auditLog(checkpoints))
        let report = try await LedgerAudit(ledger: ledger, folder: folder, progress: progress).run {
            fold, erasures, report in
            guard AuditOutcome(log: log, report: report).isRebuilt else { return }
            let hasErasures = !erasures.customers.isEmpty
            try await LedgerRebuild(
                ledger: ledger.database, fold: fold, hasErasures: hasErasures, now: ledger.clock()
            ).write(to: path)
        }
        return AuditOutcome(log: log, report: report)
    }
}

/// Writes a ledger again from a fold of its journal.
struct LedgerRebuild: Sendable {
    let ledger: any LedgerDatabase
    /// The tables that the journal determines, computed again.
    let fold: SQLiteDatabase
    /// Whether the fold lacks products and events that only erased evidence named, so that the ledger's stay.
    let hasErasures: Bool
    let now: Timestamp

    func write(to path: String) async throws {
        let tables = try StoredTable.all()
        let computed = tables.filter { !ComparedTables.excluded.contains($0.name) && $0.name != "evidence" }
        let copied = tables.filter { !computed.contains($0) || isKept($0.name) }
        let backup = LedgerBackup(of: ledger, to: path)
        _ = try await backup.write(copied, reading: { try RowIdentities($0) }) { known, file in
            try await fold.read(.lists) { fold in
                let numbers = try RowIdentities(fold).numbers(in: known, keepsUnknown: hasErasures)
                try file.write { target in
                    try target.execute("BEGIN", [])
                    for table in computed where table.name != "events" {
                        try replace(table, numbers, from: fold, target)
                    }
                    for table in computed where table.name == "events" {
                        try replaceEvents(table, numbers, from: fold, target)
                        try continueDeliveries(target)
                    }
                    let unknown = numbers.unknown("evidence", in: known)
                    for number in unknown {
                        try target.execute("DELETE FROM evidence WHERE evidence_key = ?1", [.integer(number)])
                    }
                    try target.execute("COMMIT", [])
                }
            }
            try file.check()
        }
    }

    /// Whether a computed table needs something of the ledger's rows.
    private func isKept(_ table: String) -> Bool { table == "events" || table == "products" && hasErasures }

    private func replace(
        _ table: StoredTable, _ numbers: RowNumbers, from fold: any LedgerConnection, _ target: any LedgerConnection
    ) throws {
        let pages = TablePages(table: table, limit: 1024)
        var kept: Set<[LedgerValue]> = []
        if isKept(table.name) {
            try pages.forEach(target) { rows in kept.formUnion(rows.map(pages.key(of:))) }
        } else {
            try target.execute("DELETE FROM \(table.name)", [])
        }
        try pages.forEach(fold) { rows in
            let computed = try rows.map { try numbers.renumbered($0, table) }
            try pages.insert(computed.filter { !kept.contains(pages.key(of: $0)) }, most: 1, target)
        }
    }

    /// Replaces the events that an audit compares. Those that an erasure made incomparable stay as they are.
    private func replaceEvents(
        _ table: StoredTable, _ numbers: RowNumbers, from fold: any LedgerConnection, _ target: any LedgerConnection
    ) throws {
        let compared = try ComparedTables.comparedEvents()
        try target.execute("DELETE FROM events WHERE event_key IN (\(compared))", [])
        // Of an erased customer, by an entry of another app that was left in the ledger that the app came from.
        try target.execute("DELETE FROM events WHERE entry_key NOT IN (SELECT entry_key FROM journal)", [])
        let keys = Set(try fold.rows(compared, []).map { $0.values[0] })
        let pages = TablePages(table: table, limit: 1024)
        try pages.forEach(fold) { rows in
            var computed: [LedgerRow] = []
            for row in rows where keys.contains(row.values[0]) { computed.append(try numbers.renumbered(row, table)) }
            try pages.insert(computed, most: 1, target)
        }
    }

    /// Lets webhooks go on after the newest event. Those that a rebuild left out had greater numbers, which the next
    /// events get.
    private func continueDeliveries(_ target: any LedgerConnection) throws {
        let deliveries = WebhookDeliveriesTable(connection: target)
        for row in try WebhookRow.all("WHERE environment = 0", [], target) {
            let newest = try row.outgoing(target).newest(upTo: .max)
            if row.cursor > newest { try WebhooksTable(connection: target).move(row.key, to: newest) }
            try target.execute(
                "DELETE FROM webhook_deliveries WHERE webhook_key = ?1 AND event_key NOT IN (SELECT event_key FROM events)",
                [.integer(row.key)])
            for lane in try deliveries.lanes(row.key) {
                _ = try deliveries.makeNextDue(lane: lane, webhook: row.key, at: now)
            }
        }
    }
}

/// Identifies the numbered rows of a database by their meaning, which is the same in every database of a ledger.
///
/// A fold numbers its rows from 1. The ledger's numbers differ where the engine left gaps, and after an erasure, which
/// the fold reads earlier. Entries, cursors and copied tables have the ledger's numbers, so each row gets them.
struct RowIdentities: Sendable {
    /// Nothing refers to events by number but deliveries and the cursors of readers. An event with other figures is the
    /// same one.
    private static let targets =
        TableReferences.targets + [
            .init(table: "events", number: "event_key", identity: ComparedTables.eventKey)
        ]

    /// The tables that a rebuild copies.
    private static let copied: Set<String> = ["evidence", "journal"]
    private static let page = 4096

    /// The number and the meaning of each row in their order, by table. The meaning is a fingerprint.
    fileprivate private(set) var rows: [String: [(number: Int64, meaning: UInt128)]] = [:]

    /// Reads a database.
    init(_ connection: any LedgerConnection) throws(LedgerStorageError) {
        for target in Self.targets {
            let number = "\(target.table).\(target.number)"
            var identities = TableIdentities(target.table)
            identities.add(number, named: target.number)
            for column in target.identity { identities.add(column, of: target.table) }
            let columns = identities.columns.map(\.expression).joined(separator: ", ")
            let query = """
                SELECT \(columns) FROM \(identities.source) WHERE \(number) > ?1 ORDER BY \(number) LIMIT \(Self.page)
                """
            var found: [(number: Int64, meaning: UInt128)] = []
            while true {
                let page = try connection.rows(query, [.integer(found.last?.number ?? .min)])
                for row in page {
                    var reader = row.reader
                    let meaning = LedgerRow(values: Array(row.values.dropFirst()))
                    found.append((try reader.integer(), meaning.fingerprint))
                }
                if page.count < Self.page { break }
            }
            rows[target.table] = found
        }
    }

    /// The ledger's numbers for the rows of this fold. A row that the ledger lacks gets the number after the row before
    /// it if that is free, which was its own on SQLite, and otherwise a new one.
    ///
    /// - Parameter keepsUnknown: whether rows of the ledger that the fold lacks keep their numbers.
    /// - Throws: `corrupt` if the ledger's journal or evidence is not that of the fold.
    func numbers(in ledger: RowIdentities, keepsUnknown: Bool) throws(LedgerStorageError) -> RowNumbers {
        var numbers = RowNumbers()
        for table in Self.targets.map(\.table) {
            let (known, computed) = (ledger.rows[table] ?? [], rows[table] ?? [])
            var places: [UInt128: [Int64]] = [:]
            for row in known.reversed() { places[row.meaning, default: []].append(row.number) }
            let found = computed.map { places[$0.meaning]?.popLast() }
            // Evidence that no entry names is not in the fold. It is left out of the copy.
            let isSame = !found.contains(nil) && (table == "evidence" || found.count == known.count)
            guard isSame || !Self.copied.contains(table) else {
                throw LedgerStorageError(
                    .corrupt,
                    """
                    \(table) has \(known.count) rows, and the fold \(found.count) or others: a server wrote to the \
                    database meanwhile; stop the server and run the command again
                    """)
            }
            var used = Set(keepsUnknown ? known.map(\.number) : found.compactMap(\.self))
            var (last, former): (Int64, Int64) = (known.last?.number ?? 0, 0)
            for (row, place) in zip(computed, found) {
                let number = place ?? (used.contains(former + 1) ? last + 1 : former + 1)
                (last, former) = (max(last, number), number)
                used.insert(number)
                numbers.add(table, row.number, number)
            }
        }
        return numbers
    }
}

/// The ledger's numbers for the rows of a fold.
struct RowNumbers {
    private var numbers: [String: [Int64: Int64]] = [:]

    mutating func add(_ table: String, _ computed: Int64, _ ledger: Int64) {
        numbers[table, default: [:]][computed] = ledger
    }

    /// The numbers of rows of the ledger that the fold lacks.
    func unknown(_ table: String, in ledger: RowIdentities) -> [Int64] {
        let known = Set((numbers[table] ?? [:]).values)
        return (ledger.rows[table] ?? []).map(\.number).filter { !known.contains($0) }
    }

    /// A row of a fold with the ledger's numbers.
    ///
    /// - Throws: `corrupt` if the row refers to a row that the fold does not have.
    func renumbered(_ row: LedgerRow, _ table: StoredTable) throws(LedgerStorageError) -> LedgerRow {
        var values = row.values
        let isNumbered = numbers[table.name] != nil
        for (place, column) in table.columns.enumerated() {
            // 0 means no row: an erased purchase has no product.
            guard case .integer(let number) = values[place], number != 0 else { continue }
            if isNumbered, [column] == table.key {
                values[place] = .integer(try self.number(table.name, number))
            } else if column == TableReferences.ground, number != EntitlementRow.passGround {
                let found = try number > 0 ? self.number("originals", number) : -self.number("hand_grants", -number)
                values[place] = .integer(found)
            } else if let table = TableReferences.target(namedBy: column)?.table {
                values[place] = .integer(try self.number(table, number))
            }
        }
        return LedgerRow(values: values)
    }

    private func number(_ table: String, _ computed: Int64) throws(LedgerStorageError) -> Int64 {
        guard let number = numbers[table]?[computed] else {
            throw LedgerStorageError(.corrupt, "the fold names row \(computed) of \(table), and has none")
        }
        return number
    }
}
