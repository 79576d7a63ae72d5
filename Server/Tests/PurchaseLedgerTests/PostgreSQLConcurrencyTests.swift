import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Several servers with one PostgreSQL.
@Suite("PostgreSQL: several servers", .postgreSQL)
struct PostgreSQLConcurrencyTests {
    var folder: URL { CurrentWorld.opened() }
    let place: ThrowawayPostgreSQL.Database = CurrentWorld.opened()

    /// The number of claims that three processes share; `dev/torture.sh postgres` uses 1,000. A multiple of 100, one
    /// for each customer.
    private static let sharedClaims =
        ProcessInfo.processInfo.environment["ASSAY_SHARED_CLAIMS"].flatMap { Int($0) } ?? 100

    @Test("32 clients in three processes submit the same claims to one database: each is granted once", .folder)
    func threeProcesses() async throws {
        let claims = Self.sharedClaims
        try WriterProcess.prepare(folder, claims: claims)
        let database = try PostgreSQLDatabase(url: place.url())
        let world = try await LedgerWorld(database)
        let clients = [11, 11, 10]
        var writers: [WriterProcess] = []
        for (number, count) in clients.enumerated() {
            writers.append(try WriterProcess(place.url(), folder, offset: number * claims / 3, mode: "\(count)"))
        }
        var (new, repeated, other) = (0, 0, 0)
        for writer in writers {
            let lines = try await writer.lines()
            #expect(writer.process.terminationStatus == 0)
            let words = try #require(lines.last).split(separator: " ").map(String.init)
            try #require(words.count == 6)
            new += Int(words[1]) ?? 0
            repeated += Int(words[3]) ?? 0
            other += Int(words[5]) ?? 0
        }
        #expect(new == claims)
        #expect(repeated == 31 * claims)
        #expect(other == 0)
        for number in 0..<100 {
            let customer = "customer \(number < 10 ? "0" : "")\(number)"
            #expect(try await world.entitlement(of: customer)?.balance == Int64(claims / 100))
        }
        #expect(try await world.events().count { $0 == "granted" } == claims)
        try await world.requireConsistency()
        try await database.close()
    }

    @Test("A transaction locks at most 1,000 parts: 32 writes of 600 each, and one of 5,000")
    func boundedLocks() async throws {
        let database = try PostgreSQLDatabase(url: place.url())
        try await LedgerMigrations.migrate(database, now: 0)
        let locks = try await withThrowingTaskGroup(of: Int64.self) { group in
            for write in 0..<33 {
                group.addTask {
                    let parts = (0..<(write == 32 ? 5_000 : 600)).map {
                        LedgerLock.webhook("example", "\(write)/\($0)")
                    }
                    return try await database.write({ .parts(Set(parts)) }) { connection in
                        let rows = try connection.rows(
                            """
                            SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
                            """, [])
                        guard case .integer(let count)? = rows.first?.values.first else { return -1 }
                        return count
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // The lock of all writes and two marks besides.
        #expect(locks.count == 33 && locks.allSatisfy { 0 < $0 && $0 <= 1_003 }, "\(locks)")
        try await database.close()
    }

    @Test("On two servers, customers claim each other's purchases: nothing is granted twice, and no claim fails")
    func rivals() async throws {
        let first = try await LedgerWorld(try PostgreSQLDatabase(url: place.url()))
        let second = try await LedgerWorld(try PostgreSQLDatabase(url: place.url()), clock: first.clock)
        let customers = ["alice", "bob", "carol"]
        let codes = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<60 {
                let id = "\(6000 + number)"
                let evidence = try LedgerWorld.signed(id)
                for (place, customer) in customers.enumerated() {
                    let world = (number + place) % 2 == 0 ? first : second
                    group.addTask { try await world.claim(id, customer: customer, evidence).code }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(codes == ["accepted": 60, "already_claimed": 120])
        var sum: Int64 = 0
        for customer in customers { sum += try await first.entitlement(of: customer)?.balance ?? 0 }
        #expect(sum == 60)
        try await first.requireConsistency()
        try await second.database.close()
        try await first.database.close()
    }

    @Test(
        "A connection that is cut at a commit: each claim is granted once, and each answer is the first one's",
        arguments: [CuttingProxy.Cut.beforeCommit, .afterCommit])
    func cutAtCommit(cut: CuttingProxy.Cut) async throws {
        let proxy = try CuttingProxy(to: place.server.port)
        let url = place.url(port: proxy.port) + "&assay_prepared_statements=off"
        let database = try PostgreSQLDatabase(url: url)
        let world = try await LedgerWorld(database)
        for number in 0..<10 {
            let id = "\(number)"
            let evidence = try LedgerWorld.signed(id)
            if number % 2 == 0 { proxy.cut([cut]) }
            let outcome = try await world.claim(id, evidence)
            #expect(outcome.code == "accepted" && !outcome.isReplayed)
            #expect(try await world.entitlement()?.balance == Int64(number + 1))
        }
        #expect(proxy.cuts == 5)
        #expect(try await world.events().count { $0 == "granted" } == 10)
        #expect(try await world.submissions().count == 10)
        try await world.requireConsistency()
        try await database.close()
        proxy.close()
    }

    @Test(
        "While the database server cannot be reached, every request fails with the reason; afterwards the server continues"
    )
    func unreachable() async throws {
        let proxy = try CuttingProxy(to: place.server.port)
        let database = try PostgreSQLDatabase(url: place.url(port: proxy.port))
        let world = try await LedgerWorld(database)
        let evidence = try LedgerWorld.signed("1")
        _ = try await world.claim("1", evidence)
        proxy.refuse(true)
        for attempt: () async throws -> Void in [
            { _ = try await world.claim("1", evidence) }, { _ = try await world.entitlement() },
            { try await world.ledger.perform(ProbeReadiness()) },
        ] {
            #expect(await storageFailure { try await attempt() } == .unavailable)
        }
        proxy.refuse(false)
        #expect(try await world.claim("1", evidence).isReplayed)
        #expect(try await world.entitlement()?.balance == 1)
        try await world.requireConsistency()
        try await database.close()
        proxy.close()
    }

    @Test("A killed server has lost no acknowledged write", .folder)
    func killed() async throws {
        let claims = 150
        try WriterProcess.prepare(folder, claims: claims)
        let database = try PostgreSQLDatabase(url: place.url())
        let world = try await LedgerWorld(database)
        let writer = try WriterProcess(place.url(), folder, offset: 0, mode: "forever")
        let first = try await writer.firstLine()
        kill(writer.process.processIdentifier, SIGKILL)
        let granted = try await ([first] + writer.lines()).filter { $0.hasSuffix(" accepted new") }
        #expect(!granted.isEmpty)
        // A transaction of the killed server may be committed after it: another claim of the customer waits for
        // it.
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        let balance = Int(try await world.entitlement()?.balance ?? 0) - 1
        #expect(balance == granted.count || balance == granted.count + 1)
        let again = try WriterProcess(place.url(), folder, offset: 0)
        #expect(try await again.lines().count == claims)
        #expect(try await world.entitlement()?.balance == Int64(claims + 1))
        try await world.requireConsistency()
        try await database.close()
    }
}
