import Synchronization

/// What a release of Assay writes: its migrations, its rules, and its kinds of journal entries. Servers of this release
/// and of the one before can write to one database.
///
/// - A release adds to the schema (tables, indexes, columns without a condition), and removes what the release before
///   still used only when that one no longer writes. So the release before goes on writing after the new one has added.
/// - `schema_migrations` has the migrations that have ended. Its greatest number is the schema that everybody writes.
///   What was added beyond it is in `schema_expansions`, which exists only in between.
/// - Until then, the rules of the release before apply, and no entry has a kind that it does not know. A new rule asks
///   `LedgerTransaction.rules`; so the entries before keep their results, and nothing is rebuilt.
/// - `assay migrate --contract` ends the migrations: in one transaction it removes, numbers the schema, and records the
///   new rules. From there on, a server of the release before refuses writes, and cannot be started again.
public struct LedgerRelease: Sendable {
    /// All migrations, in order.
    package let migrations: [LedgerMigration]
    /// The newest migration of the release before; `newest` if that one cannot write to a database of this release.
    let formerMigration: Int64
    /// The versions of the rules: that of the release before, and its own. A database under older ones is rebuilt.
    let rules: ClosedRange<Int64>
    /// The kinds of entries that the release before does not know.
    let newKinds: Set<JournalKind>

    /// Creates a release.
    package init(
        migrations: [LedgerMigration], formerMigration: Int64, rules: ClosedRange<Int64>,
        newKinds: Set<JournalKind> = []
    ) {
        (self.migrations, self.formerMigration) = (migrations, formerMigration)
        (self.rules, self.newKinds) = (rules, newKinds)
    }

    /// The release of this program.
    public static var this: LedgerRelease { replacement.withLock { $0 } ?? own }

    /// This release. Those before 0.2.0 do not share a database with it.
    private static let own = LedgerRelease(migrations: LedgerMigrations.all, formerMigration: 9, rules: 6...6)

    private static let replacement = Mutex<LedgerRelease?>(nil)

    /// Makes this program one of another release. Only the program that tests upgrades does it, before anything else.
    package static func replace(by release: LedgerRelease) { replacement.withLock { $0 = release } }

    /// The release after this one, as tests of upgrades imagine it: one more migration, rules and kind of entries.
    /// A program of it is built with `ASSAY_NEXT_RELEASE=1`.
    package static var next: LedgerRelease {
        let number = own.newest + 1
        let migration = LedgerMigration(
            number: number, title: "A table and a column of the next release, for tests of upgrades",
            statements: [
                .definition(
                    "CREATE TABLE next_release (note_key INTEGER PRIMARY KEY, note TEXT NOT NULL)"),
                .sql("ALTER TABLE orders ADD COLUMN next_release TEXT"),
            ],
            removals: [.sql("DROP INDEX journal_not_confirmed")])
        return LedgerRelease(
            migrations: own.migrations + [migration], formerMigration: own.newest,
            rules: own.rules.upperBound...own.rules.upperBound + 1, newKinds: [.nextRelease])
    }

    /// The number of its newest migration.
    var newest: Int64 { migrations.last?.number ?? 0 }

    /// The schemas and rules under which it writes.
    var range: SchemaRange {
        SchemaRange(
            numbers: formerMigration...newest, rules: 0...rules.upperBound, newKinds: Set(newKinds.map(\.rawValue)))
    }

    /// The version of the rules by which it decides. A database under older ones than those of the release before is
    /// rebuilt at the start.
    func rules(inForce found: SchemaInForce?) -> Int64 {
        guard let rules = found?.rules else { return self.rules.upperBound }
        return max(self.rules.lowerBound, rules)
    }

    /// Whether it knows a kind of journal entries.
    func knows(_ kind: Int64) -> Bool {
        guard let kind = UInt8(exactly: kind).flatMap(JournalKind.init(rawValue:)) else { return false }
        return kind != .nextRelease || newKinds.contains(kind)
    }
}
