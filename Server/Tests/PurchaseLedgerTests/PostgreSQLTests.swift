import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

extension Trait where Self == WorldTrait<PostgreSQLDatabase> {
    fileprivate static var openedPostgreSQL: Self {
        WorldTrait { body in
            try await ThrowawayPostgreSQL.withDatabase { place in
                let database = try PostgreSQLDatabase(url: place.url())
                try await CurrentWorld.with(place) { try await body(database) }
                try await database.close()
            }
        }
    }
}

/// The guarantees of the PostgreSQL engine.
@Suite("PostgreSQL")
struct PostgreSQLTests {
    private var database: PostgreSQLDatabase { CurrentWorld.opened() }
    var place: ThrowawayPostgreSQL.Database { CurrentWorld.opened() }

    @Test(
        "28 A write that meets several rows that other servers inserted finds them one after the other",
        .openedPostgreSQL)
    func severalDuplicates() async throws {
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

    @Test("A missing server and a malformed URL are refused with the reason")
    func unusable() throws {
        for url in ["postgres://assay@127.0.0.1:1/none", "postgres://%zz", "postgres:///none?no_such_parameter=1"] {
            #expect(storageFailure { try PostgreSQLDatabase(url: url) } == .unavailable)
        }
    }

    @Test(
        "An engine that only resembles PostgreSQL, an old version, and a connection without its limits are refused by name",
        arguments: [
            ("CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu)", 130_000, true, "CockroachDB"),
            ("PostgreSQL 11.2-YB-2.19.0.0-b0 on x86_64-pc-linux-gnu", 110_002, true, "YugabyteDB"),
            ("PostgreSQL 15.2-YB-2024.2.0.0-b0 on x86_64-pc-linux-gnu", 150_002, true, "YugabyteDB"),
            ("PostgreSQL 8.0.2 on i686-pc-linux-gnu, Redshift 1.0.12103", 80_002, true, "Redshift"),
            ("PostgreSQL 14.12 on x86_64-pc-linux-gnu", 140_012, true, "PostgreSQL 14.12"),
            ("SomethingElse 1.0", 180_000, true, "SomethingElse"),
            ("PostgreSQL 16.3 on aarch64-unknown-linux-gnu", 160_003, false, "assay_prepared_statements=off"),
        ])
    func engines(version: String, number: Int, takesOptions: Bool, named: String) {
        let engine = PostgreSQLEngine(version: version, number: number, takesOptions: takesOptions)
        #expect(engine.refusal?.contains(named) == true, "\(engine.refusal ?? "")")
        for number in [150_000, 150_018, 180_001] {
            let version = "PostgreSQL \(number / 10_000).\(number % 10_000) (Debian) on x86_64-pc-linux-gnu"
            for isGiven in [true, false] {
                let engine = PostgreSQLEngine(
                    version: version, number: number, takesOptions: isGiven, isGivenOptions: isGiven)
                #expect(engine.refusal == nil && engine.remark == nil)
            }
        }
        #expect(
            PostgreSQLEngine(version: "PostgreSQL 19.1", number: 190_001).remark?.contains("PostgreSQL 19,") == true)
    }

    @Test("Everything works without prepared statements, as behind pgbouncer", .postgreSQL)
    func unprepared() async throws {
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

    @Test("Limits and name of a connection are set, and the operator's own options count", .postgreSQL)
    func limits() async throws {
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

    @Test("After the server closed every connection, reads and writes continue without an error", .openedPostgreSQL)
    func reconnects() async throws {
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

    @Test(
        "An event that is committed later than one with a higher key is listed, and none is passed over",
        .openedPostgreSQL)
    func events() async throws {
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

    @Test("28.3 A forward does not pass a notification that can still be committed", .openedPostgreSQL)
    func forwardOrder() async throws {
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
