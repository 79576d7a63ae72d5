import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

extension Tag {
    /// What every engine must do: storage, concurrency, random histories, statements. Other tests run on one engine.
    @Tag static var everyEngine: Self
}

/// The engines that the behaviour of the ledger is tested on.
enum TestEngine: String, CaseIterable {
    case sqlite
    case postgresql
    /// PostgreSQL, where another role owns the tables. Tests that change the schema cannot run under it.
    case postgresqlServerRole = "postgresql-server-role"

    static let allCases: [TestEngine] = [.sqlite, .postgresql]

    /// The engines of the running test: those that `ASSAY_TEST_ENGINES` names; otherwise every engine for a test with
    /// the tag `everyEngine`, and one for any other, taken from its name, so that every run is equal.
    static var chosen: [TestEngine] {
        if let names = ProcessInfo.processInfo.environment["ASSAY_TEST_ENGINES"] {
            return names.split(separator: ",").compactMap { TestEngine(rawValue: String($0)) }
        }
        guard let test = Test.current, !test.tags.contains(.everyEngine) else { return allCases }
        let sum = test.name.utf8.reduce(into: UInt32(2_166_136_261)) { $0 = ($0 ^ UInt32($1)) &* 16_777_619 }
        return [allCases[Int(sum >> 16) % allCases.count]]
    }

    /// Whether every engine of this run owns its tables, which a migration of an existing ledger and a whole audit
    /// need.
    static var ownsTables: Bool { !chosen.contains(.postgresqlServerRole) }

    /// A migrated database: to copy it costs a third of migrating another.
    private static let migrated = ThrowawayPostgreSQL.Template("migrated") { place in
        let database = try PostgreSQLDatabase(url: place.url())
        try await LedgerMigrations.migrate(database, now: TestClock().now.millisecondsSince1970)
        try await database.close()
    }

    /// Calls the body with an empty database of each engine.
    ///
    /// - Parameter mayBeMigrated: whether the body migrates it first.
    static func withDatabases(
        mayBeMigrated: Bool = false, _ body: (any LedgerDatabase) async throws -> Void
    ) async throws {
        for engine in chosen {
            try await engine.withDatabase(mayBeMigrated: mayBeMigrated) { open in
                let database = try open()
                do {
                    try await body(database)
                } catch {
                    Issue.record("on \(engine.rawValue): \(error)")
                    try await database.close()
                    return
                }
                try await database.close()
            }
        }
    }

    /// Calls the body with a function that opens one empty database, as often as it is called.
    func withDatabase(
        mayBeMigrated: Bool = false,
        _ body: (@escaping @Sendable () throws -> any LedgerDatabase) async throws -> Void
    ) async throws {
        switch self {
        case .sqlite:
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "assay.sqlite").path
                try await body { try SQLiteDatabase(path: path) }
            }
        case .postgresql:
            try await ThrowawayPostgreSQL.withDatabase(like: mayBeMigrated ? Self.migrated : nil) { place in
                let url = place.url()
                try await body { try PostgreSQLDatabase(url: url) }
            }
        case .postgresqlServerRole:
            try await ThrowawayPostgreSQL.withDatabase { place in
                let url = try await ServerRole.make(in: place)
                try await body { try PostgreSQLDatabase(url: url) }
            }
        }
    }
}
