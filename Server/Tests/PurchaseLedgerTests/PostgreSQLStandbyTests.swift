import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// What a standby changes: commits that wait for it, and a primary that is replaced.
@Suite("PostgreSQL: standby and failover")
struct PostgreSQLStandbyTests {
    @Test(
        "While the standby lacks a claim, because somebody cancelled its wait, it is neither answered nor repeated nor delivered"
    )
    func cancelledWait() async throws {
        try await ThrowawayPostgreSQL.withServer { server in
            let place = try await server.create("standby")
            let database = try PostgreSQLDatabase(url: place.url())
            let world = try await LedgerWorld(database)
            let evidence = try LedgerWorld.signed("1")
            try await Self.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", server, place.url())
            try await server.control("restart", "-m", "fast")
            async let first = world.claim("1", evidence)
            let isWaiting = try await Self.waits(1, database)
            try await Self.run(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", server, place.url())
            // The claim looks for its entry, and waits again, as do the others, though the entry can be seen.
            let isLooking = try await Self.waits(1, database)
            let entitled = try await world.entitlement()?.balance
            async let again = world.claim("1", evidence)
            async let delivered = world.ledger.answer(OutgoingEvents(app: "example", after: 0, limit: 10))
            async let listed = world.events()
            // The second claim waits for the locks of the first one.
            let areWaiting = try await Self.waits(3, database)
            try await Self.run("ALTER SYSTEM RESET synchronous_standby_names", server, place.url())
            try await Self.run("SELECT pg_reload_conf()", server, place.url())
            #expect(isWaiting && isLooking && areWaiting && entitled == 1)
            #expect(try await [first.code, again.code] == ["accepted", "accepted"])
            #expect(try await delivered.count == 1)
            #expect(try await listed == ["granted"])
            #expect(try await world.entitlement()?.balance == 1)
            try await world.requireConsistency()
            try await database.close()
        }
    }

    @Test("Requests leave a primary whose machine is stopped, once the URL leads to another one")
    func stoppedPrimary() async throws {
        try await ThrowawayPostgreSQL.withServer { first in
            try await ThrowawayPostgreSQL.withServer(["default_transaction_read_only=on"]) { second in
                let database = try PostgreSQLDatabase(
                    url: "postgres://assay@127.0.0.1,127.0.0.1/postgres?port=\(first.port),\(second.port)"
                        + "&target_session_attrs=read-write&connect_timeout=2")
                let port = "SELECT inet_server_port()::bigint"
                #expect(
                    try await database.read(.keys) { try $0.rows(port, []) }.first?.values == [
                        .integer(Int64(first.port))
                    ])
                let rows = try await database.read(.keys) {
                    try $0.rows("SELECT pid::bigint FROM pg_stat_activity", []).flatMap(\.values)
                }
                var processes = [try #require(try first.process)]
                for case .integer(let process) in rows { processes.append(pid_t(process)) }
                for process in processes { kill(process, SIGSTOP) }
                async let answer = database.read(.keys) { try $0.rows(port, []) }
                let place = "postgres://assay@127.0.0.1:\(second.port)/postgres"
                try await Self.run("ALTER SYSTEM SET default_transaction_read_only = off", second, place)
                try await Self.run("SELECT pg_reload_conf()", second, place)
                #expect(try await answer.first?.values == [.integer(Int64(second.port))])
                for process in processes { kill(process, SIGCONT) }
                try await database.close()
            }
        }
    }

    /// Whether so many backends wait for the standby, sooner or later.
    private static func waits(_ count: Int64, _ database: PostgreSQLDatabase) async throws -> Bool {
        for _ in 0..<6000 {
            let found = try await database.read(.keys) { connection in
                try connection.rows("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", [])
            }
            if found.first?.values == [.integer(count)] { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private static func run(
        _ sql: String, _ server: ThrowawayPostgreSQL.Server, _ url: String
    ) async throws {
        let (status, output) = try await ThrowawayPostgreSQL.run("\(server.programs)/psql", [url, "-c", sql])
        try #require(status == 0, "\(output)")
    }
}
