import Foundation
import SQLiteFloor

/// A base that does not move, for the cost of the writer: the rows of signed purchases of consumables, written into the
/// tables, indexes and triggers of commit e11ec4db by its statements, whatever the ledger does today
/// (Benchmarks/README.md).
///
///     reference-loop [PURCHASES] [ROUNDS]
///
/// Prints one line: the processor time of a purchase in microseconds, purchases a second and pages, medians of the
/// rounds.
@main
enum ReferenceLoop {
    static func main() throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let (purchases, rounds) = (numbers.first ?? 20_000, numbers.dropFirst().first ?? 5)
        var results: [(time: Double, rate: Double, pages: Double)] = []
        for _ in 0..<rounds {
            let folder = FileManager.default.temporaryDirectory.appending(path: "assay-reference-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            results.append(try run(purchases, path: folder.appending(path: "reference.sqlite").path))
            try FileManager.default.removeItem(at: folder)
        }
        let middle = [results.map(\.time), results.map(\.rate), results.map(\.pages)].map { $0.sorted()[rounds / 2] }
        print(String(format: "%.2f %.0f %.2f", middle[0] * 1e6, middle[1], middle[2]))
    }

    /// 32 purchases share a commit, as under load.
    private static func run(_ purchases: Int, path: String) throws -> (time: Double, rate: Double, pages: Double) {
        let database = try Connection(path)
        try database.execute("PRAGMA journal_mode = WAL")
        for setting in [
            "synchronous = FULL", "cache_size = -65536", "secure_delete = ON", "wal_autocheckpoint = 12000",
        ] {
            try database.execute("PRAGMA \(setting)")
        }
        try database.execute(schema)
        try database.execute("INSERT INTO products VALUES (1, 1, 'com.example.app.coins', 1700000000000)")
        try database.execute("INSERT INTO schema_migrations VALUES (10, 'frozen', 1700000000000)")
        let begin = try Statement("BEGIN IMMEDIATE", database), commit = try Statement("COMMIT", database)
        let reads = try ReferencePurchase.reads.map { try Statement($0, database) }
        let writes = try ReferencePurchase.writes.map { try Statement($0, database) }
        let rows = (1...purchases).map { ReferencePurchase($0, of: purchases) }
        _ = database.takePages()
        let (start, time) = (ContinuousClock.now, threadTime())
        for first in stride(from: 0, to: rows.count, by: 32) {
            try begin.run([])
            try reads[0].run([])
            for purchase in rows[first..<min(first + 32, rows.count)] {
                for (statement, values) in zip(reads.dropFirst(), purchase.read) { try statement.run(values) }
                for (statement, values) in zip(writes, purchase.written) where !values.isEmpty {
                    try statement.run(values)
                }
            }
            try commit.run([])
        }
        let (seconds, count) = ((ContinuousClock.now - start).seconds, Double(purchases))
        return ((threadTime() - time) / count, count / seconds, Double(database.takePages()) / count)
    }

    /// The tables that a purchase writes and reads, with all their indexes and triggers.
    private static let schema = """
        CREATE TABLE schema_migrations (number INTEGER PRIMARY KEY, title TEXT NOT NULL, applied_at INTEGER NOT
          NULL);
        CREATE TABLE journal (entry_key INTEGER PRIMARY KEY, entry_id BLOB NOT NULL UNIQUE, leaf BLOB NOT NULL, salt
          BLOB, details BLOB, app_key INTEGER NOT NULL, customer_key INTEGER, order_key INTEGER, transaction_key
          INTEGER, evidence_key INTEGER, kind INTEGER NOT NULL, code TEXT NOT NULL, at INTEGER NOT NULL, mac BLOB);
        CREATE INDEX journal_accepted ON journal (app_key, at, entry_key) WHERE kind = 3 AND code = 'accepted';
        CREATE INDEX journal_rejected ON journal (app_key, at, entry_key) WHERE kind = 3 AND code <> 'accepted';
        CREATE INDEX journal_by_code ON journal (app_key, code, at, entry_key) WHERE kind = 3 AND code <> 'accepted';
        CREATE INDEX journal_by_customer ON journal (customer_key, kind, at, entry_key) WHERE customer_key IS NOT
          NULL;
        CREATE INDEX journal_by_order ON journal (order_key, at, entry_key) WHERE kind = 3 AND order_key IS NOT NULL;
        CREATE INDEX journal_by_transaction ON journal (transaction_key, kind, at, entry_key) WHERE transaction_key
          IS NOT NULL;
        CREATE TRIGGER journal_no_update BEFORE UPDATE ON journal WHEN NEW.entry_key IS NOT OLD.entry_key OR
          NEW.entry_id IS NOT OLD.entry_id OR NEW.leaf IS NOT OLD.leaf OR NEW.app_key IS NOT OLD.app_key OR
          NEW.customer_key IS NOT OLD.customer_key OR NEW.order_key IS NOT OLD.order_key OR NEW.transaction_key IS
          NOT OLD.transaction_key OR NEW.evidence_key IS NOT OLD.evidence_key OR NEW.kind IS NOT OLD.kind OR
          NEW.code IS NOT OLD.code OR NEW.at IS NOT OLD.at OR NEW.mac IS NOT OLD.mac OR (NEW.salt IS NOT NULL AND
          NEW.salt IS NOT OLD.salt) OR (NEW.details IS NOT NULL AND NEW.details IS NOT OLD.details) BEGIN SELECT
          RAISE(ABORT, 'journal is append-only'); END;
        CREATE TRIGGER journal_no_delete BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'journal is
          append-only'); END;
        CREATE TRIGGER journal_no_replace BEFORE INSERT ON journal WHEN EXISTS (SELECT 1 FROM journal WHERE
          entry_key = NEW.entry_key) OR EXISTS (SELECT 1 FROM journal WHERE entry_id = NEW.entry_id) BEGIN SELECT
          RAISE(ABORT, 'journal is append-only'); END;
        CREATE TABLE events (event_key INTEGER PRIMARY KEY, app_key INTEGER NOT NULL, entry_key INTEGER NOT NULL,
          type TEXT NOT NULL, customer_key INTEGER, former_key INTEGER, environment INTEGER, product_key INTEGER,
          transaction_key INTEGER, original_key INTEGER, order_key INTEGER, figures BLOB NOT NULL);
        CREATE INDEX events_by_app ON events (app_key, event_key);
        CREATE TABLE evidence (evidence_key INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, size INTEGER NOT NULL,
          content BLOB);
        CREATE TRIGGER evidence_no_update BEFORE UPDATE ON evidence WHEN NEW.evidence_key IS NOT OLD.evidence_key OR
          NEW.sha256 IS NOT OLD.sha256 OR NEW.size IS NOT OLD.size OR (NEW.content IS NOT NULL AND OLD.content IS
          NOT NULL AND NEW.content IS NOT OLD.content) BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
        CREATE TRIGGER evidence_no_delete BEFORE DELETE ON evidence BEGIN SELECT RAISE(ABORT, 'evidence is
          append-only'); END;
        CREATE TRIGGER evidence_no_replace BEFORE INSERT ON evidence WHEN EXISTS (SELECT 1 FROM evidence WHERE
          evidence_key = NEW.evidence_key) OR EXISTS (SELECT 1 FROM evidence WHERE sha256 = NEW.sha256) BEGIN SELECT
          RAISE(IGNORE); END;
        CREATE TABLE log_pending (entry_key INTEGER PRIMARY KEY);
        CREATE TABLE products (product_key INTEGER PRIMARY KEY, app_key INTEGER NOT NULL, product_id TEXT NOT NULL,
          first_known_at INTEGER NOT NULL, UNIQUE (app_key, product_id));
        CREATE TABLE customers (customer_key INTEGER PRIMARY KEY, app_key INTEGER NOT NULL, reference BLOB NOT NULL,
          name TEXT, merged_into INTEGER, merge_entry INTEGER, token BLOB, UNIQUE (app_key, name));
        CREATE TABLE originals (original_key INTEGER PRIMARY KEY, environment INTEGER NOT NULL, original_id TEXT NOT
          NULL, xcode_second INTEGER NOT NULL, app_key INTEGER NOT NULL, UNIQUE (environment, original_id,
          xcode_second));
        CREATE TABLE transactions (transaction_key INTEGER PRIMARY KEY, original_key INTEGER NOT NULL, environment
          INTEGER NOT NULL, transaction_id TEXT NOT NULL, xcode_second INTEGER NOT NULL, product_key INTEGER NOT
          NULL, facts BLOB NOT NULL, evidence_key INTEGER NOT NULL, known_at INTEGER NOT NULL, kind TEXT, duration
          TEXT, token BLOB, owner_key INTEGER, owner_reason TEXT, app_transaction_id TEXT, UNIQUE (environment,
          transaction_id, xcode_second));
        CREATE INDEX transactions_by_original ON transactions (original_key);
        CREATE INDEX transactions_by_owner ON transactions (owner_key, transaction_key) WHERE owner_key IS NOT NULL;
        CREATE INDEX transactions_by_pass ON transactions (owner_key, product_key, environment) WHERE kind =
          'non_renewing' AND owner_key IS NOT NULL;
        CREATE INDEX transactions_by_token ON transactions (token, original_key) WHERE token IS NOT NULL;
        CREATE INDEX transactions_without_kind ON transactions (product_key, original_key) WHERE kind IS NULL;
        CREATE INDEX transactions_erased ON transactions (original_key) WHERE product_key = 0;
        CREATE TABLE ownership_acts (original_key INTEGER NOT NULL, entry_key INTEGER NOT NULL, transaction_key
          INTEGER NOT NULL, customer_key INTEGER NOT NULL, former_key INTEGER, kind TEXT NOT NULL, PRIMARY KEY
          (original_key, entry_key, transaction_key)) WITHOUT ROWID;
        CREATE TABLE entitlements (customer_key INTEGER NOT NULL, product_key INTEGER NOT NULL, environment INTEGER
          NOT NULL, ground INTEGER NOT NULL, kind TEXT NOT NULL, balance INTEGER NOT NULL CHECK (balance >= 0),
          shortfall INTEGER NOT NULL CHECK (shortfall >= 0), timeline BLOB, reason TEXT, PRIMARY KEY (customer_key,
          product_key, environment, ground)) WITHOUT ROWID;
        CREATE TABLE lots (ground INTEGER PRIMARY KEY, customer_key INTEGER NOT NULL, product_key INTEGER NOT NULL,
          environment INTEGER NOT NULL, quantity INTEGER NOT NULL, withdrawn INTEGER NOT NULL, taken INTEGER NOT
          NULL, available INTEGER NOT NULL CHECK (available >= 0), purchased_at INTEGER NOT NULL, reason TEXT NOT
          NULL);
        CREATE INDEX lots_empty ON lots (customer_key, product_key, environment, purchased_at, reason) WHERE
          available = 0;
        CREATE INDEX lots_available ON lots (customer_key, product_key, environment, purchased_at, ground) WHERE
          available > 0;
        CREATE INDEX journal_refusals ON journal (app_key, at, entry_key) WHERE kind = 48;
        CREATE INDEX events_by_customer ON events (customer_key, event_key) WHERE customer_key IS NOT NULL;
        CREATE INDEX journal_not_confirmed ON journal (app_key, code, at, entry_key) WHERE kind = 2 AND code <>
          'accepted';
        CREATE INDEX customers_by_merge ON customers (merged_into) WHERE merged_into IS NOT NULL;
        CREATE INDEX journal_restores ON journal (customer_key, entry_key) WHERE kind = 3 AND transaction_key IS
          NULL AND code = 'accepted';
        CREATE INDEX journal_notifications ON journal (customer_key, entry_key) WHERE kind = 23 AND customer_key IS
          NOT NULL;
        CREATE INDEX transactions_by_app_transaction ON transactions (environment, app_transaction_id) WHERE
          app_transaction_id IS NOT NULL;
        CREATE INDEX transactions_held ON transactions (transaction_key) WHERE owner_key IS NULL AND product_key <>
          0;
        """
}

/// The values of one purchase. Sizes and order are those that the ledger of e11ec4db wrote for a signed transaction of
/// a consumable with the certificates of `EvidenceMint`; two purchases have one customer.
private struct ReferencePurchase {
    let read: [[Value]]
    let written: [[Value]]

    static let reads = [
        "SELECT max(number) FROM schema_migrations",
        "SELECT * FROM customers WHERE app_key = ?1 AND name = ?2",
        "SELECT * FROM transactions WHERE environment = ?1 AND transaction_id = ?2 AND xcode_second = ?3",
        "SELECT * FROM originals WHERE environment = ?1 AND original_id = ?2 AND xcode_second = ?3",
        "SELECT product_key FROM products WHERE app_key = ?1 AND product_id = ?2",
    ]
    static let writes = [
        "INSERT INTO evidence VALUES (?1, ?2, ?3, ?4)",
        "INSERT INTO customers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        "INSERT INTO originals VALUES (?1, ?2, ?3, ?4, ?5)",
        "INSERT INTO transactions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        "INSERT INTO lots VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        """
        INSERT INTO entitlements VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT (customer_key, product_key, environment, ground)
        DO UPDATE SET balance = entitlements.balance + excluded.balance
        """,
        "INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        "INSERT INTO ownership_acts VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        "INSERT INTO log_pending VALUES (?1)",
    ]

    init(_ number: Int, of count: Int) {
        func text(_ text: String) -> Value { .text(Array(text.utf8)) }
        // A generator of Weyl and MurmurHash's last step: the same bytes in every run.
        var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        func bytes(_ size: Int) -> Value {
            .blob(
                (0..<size).map { _ in
                    state = (state ^ (state >> 33)) &* 0xFF51_AFD7_ED55_8CCD &+ 1
                    return UInt8(truncatingIfNeeded: state >> 40)
                })
        }
        // Two purchases of each customer, far from each other.
        let customers = max(1, count / 2), customer = number * 7919 % customers
        let (key, owner, at) = (
            Value.integer(Int64(number)), Value.integer(Int64(customer + 1)), Value.integer(1_700_000_060_000)
        )
        let (id, name) = (text("\(2_000_000_000_000_000 + number * 7)"), text("customer-\(customer)"))
        let (one, zero, sandbox) = (Value.integer(1), Value.integer(0), Value.integer(2))
        read = [[one, name], [sandbox, id, zero], [sandbox, id, zero], [one, text("com.example.app.coins")]]
        written = [
            [key, bytes(32), .integer(3718), bytes(159)],
            number <= customers ? [owner, one, bytes(16), name, .null, .null, .null] : [],
            [key, sandbox, id, zero, one],
            [
                key, key, sandbox, id, zero, one, bytes(169), key, at, text("consumable"), .null, .null, owner,
                text("claim"),
                text("\(700_000_000_000_000_000 + number)"),
            ],
            [key, owner, one, sandbox, one, zero, zero, one, .integer(1_700_000_000_000), text("")],
            [owner, one, sandbox, zero, text("consumable"), one, zero, .null, .null],
            [
                key, bytes(16), bytes(139), bytes(16), bytes(81), one, owner, .null, key, key, .integer(3),
                text("accepted"), at,
                bytes(32),
            ],
            [key, key, key, owner, .null, text("claim")],
            [key, one, key, text("granted"), owner, .null, .null, one, key, key, .null, bytes(8)],
            [key],
        ]
    }
}
