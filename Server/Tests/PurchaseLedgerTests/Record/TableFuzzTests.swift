import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The number of rows of each table to change: `one`, chosen at random, or `all`. If it is not set, the fuzz is
/// skipped: each change is a separate audit, and there are hundreds.
enum FuzzedRows {
    static let wanted = ProcessInfo.processInfo.environment["ASSAY_FUZZ_ROWS"]
}

/// Plain SQL against every table: the changes that an attacker with write access and without a key can make.
@Suite("Fuzz of the tables", .tags(.everyEngine))
struct TableFuzzTests {
    private struct Table: Sendable {
        let name: String
        let columns: [(name: String, type: String)]
        /// The primary key, which identifies a row.
        let key: [String]
        let rows: [[LedgerValue]]
    }

    @Test(
        "Every changed, added or removed row of every table is found, also with all hashes computed again, except those that docs/record.md lists",
        .enabled(if: FuzzedRows.wanted != nil, "set ASSAY_FUZZ_ROWS to one or all"))
    func fuzz() async throws {
        try await TemporaryFolder.with { folder in
            let world = try await FuzzedWorld(folder)
            let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
            #expect(try await world.audit(database) == [], "the unchanged database")
            let (tables, triggers) = try await database.read(.lists) { (try Self.tables($0), try Self.triggers($0)) }
            try await database.close()
            #expect(tables.count > 30)
            var generator = SystemRandomNumberGenerator()
            var report = FuzzReport(exceptions: try Self.exceptions())
            for table in tables {
                // A tile takes 256 entries; LogAuditTests changes them.
                #expect(!table.rows.isEmpty || table.name == "log_tiles", "\(table.name) has no row to change")
                let some = table.rows.shuffled(using: &generator).prefix(1)
                let rows = FuzzedRows.wanted == "all" ? table.rows : Array(some)
                for row in rows {
                    for (column, change) in Self.changes(of: table, row) {
                        for computesHashes in [false, true] {
                            let found = try await world.findings(
                                after: { try change.apply($0) }, computesHashes: computesHashes, using: triggers)
                            report.add(
                                table.name, column, found, change.text + (computesHashes ? " with new hashes" : ""))
                        }
                    }
                }
            }
            print(report.text)
            #expect(report.missed == [], "not named, and not listed in docs/record.md")
            // With one row of each table, chance can miss the row whose change is not reported.
            if FuzzedRows.wanted == "all" {
                #expect(report.unused == [], "listed in docs/record.md, and always named")
            }
        }
    }

    @Test("docs/record.md lists every table and column that the audit does not compare")
    func documented() throws {
        let missing = ComparedTables.uncompared.subtracting(try Self.exceptions())
        #expect(missing == [])
        #expect(ComparedTables.uncompared.isSuperset(of: ["operators.*", "work.*"]))
    }

    /// A statement with its parameters.
    private struct Change: Sendable {
        let text: String
        let parameters: [LedgerValue]

        func apply(_ connection: any LedgerConnection) throws -> Int { try connection.execute(text, parameters) }
    }

    /// The changes of a row: each column gets another value, the value of another row, and null; the row is removed;
    /// and a copy of it with another key is added.
    private static func changes(of table: Table, _ row: [LedgerValue]) -> [(column: String, change: Change)] {
        let places = table.key.compactMap { key in table.columns.firstIndex { $0.name == key } }
        let condition = places.indices
            .map { "\(table.key[$0]) IS ?\($0 + 2)" }.joined(separator: " AND ")
        let key = places.map { row[$0] }
        var changes: [(String, Change)] = []
        for (index, column) in table.columns.enumerated() {
            var values = [other(than: row[index], column.type), LedgerValue.null]
            if let neighbour = table.rows.map({ $0[index] }).first(where: { $0 != row[index] && $0 != .null }) {
                values.append(neighbour)
            }
            for value in values where value != row[index] {
                changes.append(
                    (
                        column.name,
                        Change(
                            text: "UPDATE \(table.name) SET \(column.name) = ?1 WHERE \(condition)",
                            parameters: [value] + key)
                    ))
            }
        }
        changes.append(
            (
                "removed",
                Change(text: "DELETE FROM \(table.name) WHERE ?1 IS NULL AND \(condition)", parameters: [.null] + key)
            ))
        var copy = row
        for place in places { copy[place] = other(than: row[place], table.columns[place].type) }
        let marks = copy.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        // The schema refuses a copy with the same unique value, so the copy gets another one.
        for (index, column) in table.columns.enumerated()
        where ["entry_id", "sha256", "grant_id", "order_id", "name"]
            .contains(column.name) || (table.name == "log_entries" && column.name == "entry_key")
        {
            copy[index] = other(than: row[index], column.type)
        }
        changes.append(("added", Change(text: "INSERT INTO \(table.name) VALUES (\(marks))", parameters: copy)))
        return changes
    }

    /// Another value of the same type.
    private static func other(than value: LedgerValue, _ type: String) -> LedgerValue {
        switch value {
        case .integer(let number): return .integer(number + 1_000)
        case .text(let text): return .text(text + "x")
        case .blob(var bytes):
            guard !bytes.isEmpty else { return .blob([1]) }
            bytes[bytes.count / 2] ^= 1
            return .blob(bytes)
        case .null:
            return switch type {
            case "INTEGER": .integer(1)
            case "TEXT": .text("x")
            default: .blob([1])
            }
        }
    }

    /// Every table that SQLite lists, so that a new one is fuzzed automatically.
    private static func tables(_ connection: any LedgerConnection) throws -> [Table] {
        var tables: [Table] = []
        for row in try connection.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name", [])
        {
            guard case .text(let name)? = row.values.first else { continue }
            var columns: [(name: String, type: String)] = []
            var key: [(place: Int64, name: String)] = []
            for column in try connection.rows(
                "SELECT name, type, pk FROM pragma_table_info(?1) ORDER BY cid", [.text(name)])
            {
                guard case .text(let title) = column.values[0], case .text(let type) = column.values[1],
                    case .integer(let place) = column.values[2]
                else { continue }
                columns.append((title, type))
                if place > 0 { key.append((place, title)) }
            }
            let names = columns.map(\.name).joined(separator: ", ")
            tables.append(
                Table(
                    name: name, columns: columns, key: key.sorted { $0.place < $1.place }.map(\.name),
                    rows: try connection.rows("SELECT \(names) FROM \(name)", []).map(\.values)))
        }
        return tables
    }

    /// The triggers, which are dropped before a change and created again after it.
    private static func triggers(_ connection: any LedgerConnection) throws -> [FuzzedWorld.Trigger] {
        var triggers: [FuzzedWorld.Trigger] = []
        for row in try connection.rows("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'", []) {
            guard case .text(let name) = row.values[0], case .text(let sql) = row.values[1] else { continue }
            triggers.append(FuzzedWorld.Trigger(name: name, sql: sql))
        }
        return triggers
    }

    /// The columns of the table in docs/record.md, as `table.column`; `*` stands for all columns, added and removed
    /// rows.
    private static func exceptions() throws -> Set<String> {
        let text = try String(contentsOf: Corpus.projectFolder.appending(path: "docs/record.md"), encoding: .utf8)
        let section = text.components(separatedBy: "\n## ").first { $0.hasPrefix("What the audit does not name") } ?? ""
        var exceptions: Set<String> = []
        for line in section.split(separator: "\n") where line.hasPrefix("| `") {
            let cell = line.split(separator: "|").first ?? ""
            for name in cell.split(separator: ",") {
                exceptions.insert(name.trimmingCharacters(in: CharacterSet(charactersIn: " `")))
            }
        }
        return exceptions
    }
}
