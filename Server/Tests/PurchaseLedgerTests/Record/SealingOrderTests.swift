import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Leaves are in the order of numbers, although PostgreSQL commits entries in another order than it numbers them.
@Suite("A.1 The order of leaves", .tags(.everyEngine), .postgreSQL)
struct SealingOrderTests {
    let place: ThrowawayPostgreSQL.Database = CurrentWorld.opened()

    @Test("A.1 An entry that is committed later than one with a higher number gets the lower leaf, and none is skipped")
    func lateCommit() async throws {
        try await Self.withServers(place, 2) { world, servers, gate in
            let sealing = try LogSealing(ledger: world.ledger, signer: nil)
            // The first to name a product inserts its row, for which the other server would wait.
            _ = try await world.order()
            _ = try await sealing.round()
            let sealed = try await Self.number(Self.sealedUpTo, world)
            let newest = EventPosition(app: "example", id: nil)
            let before = try await world.ledger.answer(newest).newest
            gate.arm()
            async let late = servers[0].order("late")
            try await gate.reached()
            // Another server commits an entry with a higher number. Nothing beyond the lower one is sealed.
            _ = try await servers[1].order("early")
            #expect(try await sealing.round().sealed == 0)
            #expect(try await Self.number(Self.sealedUpTo, world) == sealed)
            // Nor is it in a list or a stream of events, whose readers would miss the lower one.
            #expect(try await world.ledger.answer(newest).newest == before)
            #expect(try await world.ledger.answer(EventSearch(app: "example", after: before)).entries.isEmpty)
            gate.open()
            _ = try await late
            #expect(try await sealing.round().sealed == 2)
            let since = try await world.ledger.answer(EventSearch(app: "example", after: before)).entries
            #expect(since.map(\.content.customerID) == ["late", "early"])
            try await Self.requireOrder(world)
            #expect(try await Self.number("SELECT count(*) FROM journal", world) == Self.number(Self.size, world))
        }
    }

    @Test("A.1 The first number of a new database is not below the first mark")
    func firstNumber() async throws {
        let database = try PostgreSQLDatabase(url: place.url())
        try await LedgerMigrations.migrate(database, now: 0)
        let gate = CommitGate()
        let (late, clock) = (LateDatabase(database, beforeCommit: { gate.pass() }), TestClock())
        gate.arm()
        async let opened = PurchaseLedger.open(
            database: late, verifier: try LedgerWorld.verifier(), apps: [LedgerWorld.app()], clock: { clock.now })
        try await gate.reached()
        let settled = try await database.read(.keys) { try $0.settledEntry() }
        #expect(settled == 1)
        gate.open()
        _ = try await opened
        #expect(
            try await database.read(.keys) { try $0.rows("SELECT min(entry_key) FROM journal", []).first?.values }
                == [.integer(2)])
        try await database.close()
    }

    /// `ASSAY_KILL_ROUNDS` sets the number of rounds.
    private static let rounds = ProcessInfo.processInfo.environment["ASSAY_KILL_ROUNDS"].flatMap { Int($0) } ?? 12

    @Test(
        "A.1 With late locks, late commits and killed connections, no leaf is skipped and none is out of order, and each entry is sealed once its writers have ended"
    )
    func kills() async throws {
        try await Self.withServers(place, 3) { world, servers, _ in
            let sealers = try servers.map { try LogSealing(ledger: $0.ledger, signer: nil) }
            for number in 0..<4 { _ = try await world.claim("\(number)", try LedgerWorld.signed("\(number)")) }
            for round in 0..<Self.rounds {
                await withTaskGroup(of: Void.self) { group in
                    for (index, server) in servers.enumerated() {
                        group.addTask {
                            for step in 0..<4 {
                                // A killed connection fails its write, or has it done again.
                                _ = try? await Self.write(server, round * 100 + index * 10 + step)
                            }
                        }
                        group.addTask {
                            for _ in 0..<3 { _ = try? await sealers[index].seal() }
                        }
                    }
                    group.addTask {
                        try? await Task.sleep(for: .milliseconds(Int.random(in: 0...25)))
                        try? await Self.kill(place)
                    }
                }
                // Nothing writes now, so one call seals everything.
                _ = try await Self.retried { try await sealers[round % sealers.count].seal() }
                let entries = try await Self.number("SELECT count(*) FROM journal", world)
                #expect(try await Self.number(Self.size, world) == entries, "round \(round)")
            }
            try await Self.requireOrder(world)
            #expect(try await world.ledger.auditLog([]).findings == [])
            #expect(try await world.ledger.audit().findings == [])
        }
    }

    // MARK: Servers

    private static let sealedUpTo = "SELECT sealed_up_to FROM log_state"
    private static let size = "SELECT size FROM log_state"

    /// Calls the body with a ledger, and with servers that commit late.
    private static func withServers(
        _ place: ThrowawayPostgreSQL.Database, _ count: Int,
        _ body: (LedgerWorld, [LedgerWorld], CommitGate) async throws -> Void
    ) async throws {
        try await TemporaryFolder.with { folder in
            let key = try EntryKey.openOrCreate(at: folder.appending(path: "entries.key").path)
            let world = try await LedgerWorld(try PostgreSQLDatabase(url: place.url()), entryKey: key)
            let gate = CommitGate()
            var servers: [LedgerWorld] = []
            for _ in 0..<count {
                let late = LateDatabase(try PostgreSQLDatabase(url: place.url())) {
                    gate.pass()
                    if Int.random(in: 0..<3) == 0 { usleep(UInt32.random(in: 0...4000)) }
                }
                servers.append(try await LedgerWorld(late, clock: world.clock, entryKey: key))
            }
            try await body(world, servers, gate)
            for server in servers + [world] { try await server.database.close() }
        }
    }

    /// A write. Every second one claims a purchase of somebody else, whose customer it locks late.
    private static func write(_ server: LedgerWorld, _ number: Int) async throws {
        if number % 2 == 0 {
            _ = try await server.order("customer\(number % 7)")
        } else {
            let id = "\(number % 4)"
            _ = try await server.claim(id, customer: "thief\(number)", try LedgerWorld.signed(id))
        }
    }

    /// Ends some connections of all servers.
    private static func kill(_ place: ThrowawayPostgreSQL.Database) async throws {
        let killer = try PostgreSQLDatabase(url: place.url() + "&application_name=killer")
        _ = try await killer.read(.keys) { connection in
            try connection.rows(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
                AND application_name <> 'killer' AND backend_type = 'client backend' AND random() < 0.4
                """, [])
        }
        try await killer.close()
    }

    private static func retried<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch { return try await body() }
    }

    private static func number(_ sql: String, _ world: LedgerWorld) async throws -> Int64 {
        try await retried {
            try await world.database.read(.keys) { connection in
                guard case .integer(let number)? = try connection.rows(sql, []).first?.values.first else { return -1 }
                return number
            }
        }
    }

    /// Checks that every leaf has a greater number than the one before, and that no leaf is missing.
    private static func requireOrder(_ world: LedgerWorld) async throws {
        let disorder = """
            SELECT count(*) FROM log_entries AS a JOIN log_entries AS b ON b.leaf = a.leaf + 1
            WHERE b.entry_key <= a.entry_key
            """
        #expect(try await number(disorder, world) == 0)
        #expect(try await number("SELECT count(*) FROM log_entries", world) == number(size, world))
        #expect(try await number("SELECT max(leaf) + 1 FROM log_entries", world) == number(size, world))
    }
}
