import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

/// The guarantees of the PostgreSQL engine.
@Suite("PostgreSQL")
struct PostgreSQLTests {
    private func withDatabase(_ body: (PostgreSQLDatabase, ThrowawayPostgreSQL.Database) async throws -> Void)
        async throws
    {
        try await ThrowawayPostgreSQL.withDatabase { place in
            let database = try PostgreSQLDatabase(url: place.url())
            try await body(database, place)
            try await database.close()
        }
    }

    @Test("Writes that wait share commits, and each is answered with its own value")
    func groupCommit() async throws {
        try await withDatabase { database, _ async throws in
            try await database.write { _ = try $0.execute("CREATE TABLE t (n BIGINT PRIMARY KEY)", []) }
            let before = database.commits
            let values = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<2000 {
                    group.addTask {
                        try await database.write({ .parts([]) }) { connection in
                            try connection.execute("INSERT INTO t (n) VALUES (?1)", [.integer(Int64(number))])
                            return Int64(number)
                        }
                    }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            #expect(values.count == 2000)
            let after = database.commits
            #expect(after.writes - before.writes == 2000)
            #expect(after.transactions - before.transactions < 2000)
            print("group commit on PostgreSQL: 2000 writes in \(after.transactions - before.transactions) transactions")
        }
    }

    @Test("A failed write does not affect the others in its transaction")
    func isolation() async throws {
        struct Refusal: Error {}
        try await withDatabase { database, _ async throws in
            try await database.write { _ = try $0.execute("CREATE TABLE t (n BIGINT PRIMARY KEY, m BIGINT)", []) }
            let failures = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        do {
                            try await database.write({ .parts([]) }) { connection in
                                try connection.execute("INSERT INTO t (n) VALUES (?1)", [.integer(Int64(number))])
                                if number % 5 == 0 { throw Refusal() }
                                if number % 7 == 0 {
                                    // Its result is not awaited, and the error is thrown by the commit.
                                    try connection.send(
                                        to: "t", "INSERT INTO t (n) VALUES (?1)", [.integer(Int64(number))])
                                }
                            }
                            return false
                        } catch is Refusal {
                            return true
                        } catch let error as LedgerStorageError where error.kind == .constraint {
                            return true
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            let expected = (0..<500).count { $0 % 5 == 0 || $0 % 7 == 0 }
            #expect(failures == expected)
            let rows = try await database.read(.lists) { try $0.rows("SELECT count(*) FROM t", []).first?.values }
            #expect(rows == [.integer(Int64(500 - expected))])
        }
    }

    @Test("28 A write that meets several rows that other servers inserted finds them one after the other")
    func severalDuplicates() async throws {
        try await withDatabase { database, _ async throws in
            try await database.write { connection in
                try connection.execute("CREATE TABLE t (n BIGINT PRIMARY KEY)", [])
                for number in 1...3 as ClosedRange<Int64> {
                    try connection.execute("INSERT INTO t (n) VALUES (?1)", [.integer(number)])
                }
            }
            // Each attempt knows one more of the rows that were inserted since the write looked.
            let attempts = Mutex<Int64>(0)
            try await database.write({ .parts([]) }) { connection in
                let number = attempts.withLock { count in
                    count += 1
                    return count
                }
                try connection.send(to: "t", "INSERT INTO t (n) VALUES (?1)", [.integer(number)])
            }
            #expect(attempts.withLock { $0 } == 4)
        }
    }

    @Test("The rows of the journal, of evidence and of the log can be neither changed, deleted nor truncated")
    func appendOnly() async throws {
        try await withDatabase { database, _ async throws in
            let world = try await LedgerWorld(database)
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            for sql in [
                "UPDATE journal SET leaf = x'00'", "UPDATE journal SET details = x'00'", "DELETE FROM journal",
                "TRUNCATE journal", "INSERT INTO journal SELECT * FROM journal LIMIT 1", "UPDATE evidence SET size = 1",
                "UPDATE evidence SET content = x'00'", "DELETE FROM evidence", "TRUNCATE evidence CASCADE",
                "TRUNCATE log_entries", "TRUNCATE log_tiles",
            ] {
                let error = await #expect(throws: LedgerStorageError.self) {
                    try await database.write { _ = try $0.execute(sql, []) }
                }
                #expect(error?.kind == .constraint, "\(sql)")
            }
            try await world.requireConsistency()
            // An erasure is the only permitted change.
            try await database.write { _ = try $0.execute("UPDATE journal SET salt = NULL, details = NULL", []) }
        }
    }

    @Test("A database of a newer version is refused, and an older server stops writing when a newer schema appears")
    func newerSchema() async throws {
        try await withDatabase { database, place async throws in
            let world = try await LedgerWorld(database)
            let other = try PostgreSQLDatabase(url: place.url())
            try await other.write {
                _ = try $0.execute(
                    "INSERT INTO schema_migrations (number, title, applied_at) VALUES (999, 'from the future', 0)", [])
            }
            for attempt: () async throws -> Void in [
                { _ = try await LedgerMigrations.migrate(database, now: 0) },
                { try await LedgerMigrations.requireCurrent(database) },
                { _ = try await world.claim("2", try LedgerWorld.signed("2")) },
                { try await world.ledger.perform(ProbeReadiness()) },
            ] {
                let error = await #expect(throws: LedgerStorageError.self) { try await attempt() }
                #expect(error?.kind == .schemaTooNew)
            }
            try await other.close()
        }
    }

    @Test("Migrations of several servers at the same time run once, and a database without them is noticed")
    func migrations() async throws {
        try await withDatabase { database, place async throws in
            let error = await #expect(throws: LedgerStorageError.self) {
                try await LedgerMigrations.requireCurrent(database)
            }
            #expect(error?.kind == .schemaTooOld)
            let run = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let database = try PostgreSQLDatabase(url: place.url())
                        let count = try await LedgerMigrations.migrate(database, now: 0).count
                        try await database.close()
                        return count
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(run == LedgerMigrations.all.count)
        }
    }

    @Test("A missing server and a malformed URL are refused with the reason")
    func unusable() throws {
        for url in ["postgres://assay@127.0.0.1:1/none", "postgres://%zz", "postgres:///none?no_such_parameter=1"] {
            let error = #expect(throws: LedgerStorageError.self) { try PostgreSQLDatabase(url: url) }
            #expect(error?.kind == .unavailable)
        }
    }

    @Test("Everything works without prepared statements, as behind pgbouncer in transaction mode")
    func unprepared() async throws {
        try await ThrowawayPostgreSQL.withDatabase { place in
            let database = try PostgreSQLDatabase(url: place.url() + "&assay_prepared_statements=off")
            let world = try await LedgerWorld(database)
            for number in 0..<20 {
                #expect(try await world.claim("\(number)", try LedgerWorld.signed("\(number)")).verdict == .accepted)
            }
            #expect(try await world.entitlement()?.balance == 20)
            let prepared = try await database.read(.keys) {
                try $0.rows("SELECT count(*) FROM pg_prepared_statements", []).first?.values
            }
            #expect(prepared == [.integer(0)])
            let limits = try await database.write { connection in
                try connection.rows(
                    """
                    SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
                    current_setting('idle_in_transaction_session_timeout'), current_setting('application_name')
                    """, []
                ).first?.values
            }
            #expect(limits == [.text("1min"), .text("10s"), .text("15s"), .text("assay")])
            try await world.requireConsistency()
            try await database.close()
        }
    }

    @Test("Limits and name of a connection are set, and the operator's own options count")
    func limits() async throws {
        try await ThrowawayPostgreSQL.withDatabase { place in
            let database = try PostgreSQLDatabase(
                url: place.url() + "&application_name=studio&options=-c%20lock_timeout%3D7s")
            let values = try await database.read(.keys) { connection in
                try connection.rows(
                    """
                    SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
                    current_setting('idle_in_transaction_session_timeout'), current_setting('application_name')
                    """, []
                ).first?.values
            }
            #expect(values == [.text("1min"), .text("7s"), .text("15s"), .text("studio")])
            try await database.close()
        }
    }

    @Test("After the server closed every connection, reads and writes continue without an error")
    func reconnects() async throws {
        try await withDatabase { database, place async throws in
            let world = try await LedgerWorld(database)
            for number in 0..<4 {
                _ = try await world.claim("\(number)", try LedgerWorld.signed("\(number)"))
                #expect(try await world.entitlement()?.balance == Int64(number + 1))
                let other = try PostgreSQLDatabase(url: place.url())
                _ = try await other.read(.keys) { connection in
                    try connection.rows(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                        """, [])
                }
                try await other.close()
            }
            try await world.requireConsistency()
        }
    }

    @Test("An event that is committed later than one with a higher key is listed, and none is passed over")
    func events() async throws {
        try await withDatabase { database, place async throws in
            let world = try await LedgerWorld(database)
            let other = try PostgreSQLDatabase(url: place.url())
            try await LedgerMigrations.requireCurrent(other)
            let (slow, fast) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
            // A transaction has numbered an event and waits before its commit.
            async let late: Void = other.write({ .parts([]) }) { connection in
                _ = try connection.rows("SELECT nextval('events_event_key_seq')", [])
                slow.continuation.finish()
                fast.wait()
            }
            for await _ in slow.stream {}
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            // Its event has a higher key, and is held back as long as the other transaction could write a lower one.
            #expect(try await world.events().isEmpty)
            // A webhook's cursor must not pass the lower one either, and neither must that of a new webhook.
            let vacancy = WebhookVacancy(app: "example", url: "https://example.com/", owner: [1])
            let outgoing = OutgoingEvents(app: "example", after: 0, limit: 10)
            #expect(try await world.ledger.answer(vacancy) == 0)
            #expect(try await world.ledger.answer(outgoing).isEmpty)
            fast.signal()
            try await late
            #expect(try await world.events() == ["granted"])
            let delivered = try await world.ledger.answer(outgoing).map(\.key)
            #expect(delivered.count == 1)
            #expect(try await world.ledger.answer(vacancy) == delivered.first)
            try await other.close()
        }
    }

    @Test("28.3 A forward does not pass a notification that can still be committed")
    func forwardOrder() async throws {
        try await withDatabase { database, place async throws in
            let world = try await LedgerWorld(database)
            let other = try PostgreSQLDatabase(url: place.url())
            try await LedgerMigrations.requireCurrent(other)
            let (slow, fast) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
            // A transaction has numbered an entry and waits before its commit.
            async let late: Void = other.write({ .parts([]) }) { connection in
                _ = try connection.rows("SELECT nextval('journal_entry_key_seq')", [])
                slow.continuation.finish()
                fast.wait()
            }
            for await _ in slow.stream {}
            let payload = try MintedWorld.mint(MintedWorld.testNotification(environment: "Production"))
            _ = try await world.ledger.perform(
                ObserveEvidence(world.ledger.examine(EvidenceSubmission(notification: payload, in: payload))))
            let stream = WebhookStream.notifications(.production)
            let vacancy = WebhookVacancy(app: "example", stream, url: "https://example.com/", owner: [1])
            let outgoing = OutgoingEvents(app: "example", stream, after: 0, limit: 10)
            #expect(try await world.ledger.answer(vacancy) == 0)
            #expect(try await world.ledger.answer(outgoing).isEmpty)
            fast.signal()
            try await late
            let forwarded = try await world.ledger.answer(outgoing)
            #expect(forwarded.map(\.content) == [.notification(body: payload)])
            #expect(try await world.ledger.answer(vacancy) == forwarded.first?.key)
            try await other.close()
        }
    }
}
