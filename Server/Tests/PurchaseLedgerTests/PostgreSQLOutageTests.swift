import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// PostgreSQL in the conditions of an installation: stopped and killed under load, behind a pooler, over TLS.
@Suite("PostgreSQL: outages, poolers and TLS")
struct PostgreSQLOutageTests {
    var place: ThrowawayPostgreSQL.Database { CurrentWorld.opened() }

    /// How the server ends. `immediate` is a crash, `fast` a restart by the operator.
    enum Outage: String, CaseIterable {
        case restart
        case crash
        case kill
    }

    @Test(
        "After PostgreSQL is restarted, crashes or is killed under load, no answered purchase is lost, none is granted twice, and the server continues",
        arguments: Outage.allCases)
    func outage(_ outage: Outage) async throws {
        try await ThrowawayPostgreSQL.withServer { server in
            let place = try await server.create("outage")
            let database = try PostgreSQLDatabase(url: place.url())
            let world = try await LedgerWorld(database)
            let claims = 300
            let evidence = try (0..<claims).map { try LedgerWorld.signed("\(4000 + $0)") }
            let progress = Progress()
            let (moment, signal) = AsyncStream<Void>.makeStream()
            async let fault: Void = Self.strike(outage, server, at: moment)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<16 {
                    group.addTask {
                        for number in stride(from: client, to: claims, by: 16) {
                            // The behaviour of a client after 503 with `Retry-After`.
                            for attempt in 1... {
                                do {
                                    let outcome = try await world.claim(
                                        "\(4000 + number)", customer: "customer \(number % 7)", evidence[number])
                                    #expect(outcome.code == "accepted")
                                    break
                                } catch let error as LedgerStorageError {
                                    progress.codes.withLock { $0[error.kind.rawValue, default: 0] += 1 }
                                    let isPassing: Set<LedgerStorageError.Kind> = [.unavailable, .outcomeUnknown]
                                    guard isPassing.contains(error.kind), attempt < 2000 else { throw error }
                                    try await Task.sleep(for: .milliseconds(20))
                                }
                            }
                            if progress.answer() == claims / 3 { signal.finish() }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await fault
            print("PostgreSQL, \(outage.rawValue) under load: refused meanwhile \(progress.codes.withLock { $0 })")
            #expect(try await world.events().count { $0 == "granted" } == claims)
            var sum: Int64 = 0
            for customer in 0..<7 { sum += try await world.entitlement(of: "customer \(customer)")?.balance ?? 0 }
            #expect(sum == Int64(claims))
            try await world.requireConsistency()
            try await database.close()
        }
    }

    private final class Progress: Sendable {
        let codes = Mutex<[String: Int]>([:])
        private let answered = Mutex(0)

        func answer() -> Int {
            answered.withLock { count in
                count += 1
                return count
            }
        }
    }

    /// Ends the server at a moment, and starts it again.
    private static func strike(
        _ outage: Outage, _ server: ThrowawayPostgreSQL.Server, at moment: AsyncStream<Void>
    ) async throws {
        for await _ in moment {}
        switch outage {
        case .restart: try await server.control("restart", "-m", "fast")
        case .crash:
            try await server.control("stop", "-m", "immediate")
            try await server.control("start")
        case .kill:
            if let process = try server.process { kill(process, SIGKILL) }
            // The other processes notice, and the next start waits for them.
            var isStarted = false
            for _ in 0..<100 {
                guard !isStarted else { break }
                do {
                    try await server.control("start")
                    isStarted = true
                } catch {
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            #expect(isStarted)
        }
    }

    @Test(
        "A start behind pgbouncer without the parameter is refused with it, whether options are refused or dropped",
        .postgreSQL)
    func poolerWithoutParameter() async throws {
        for (mode, more) in [
            ("transaction", ""), ("session", ""), ("transaction", Pooler.dropping), ("session", Pooler.dropping),
        ] {
            try await Pooler.with(place, mode, more) { pooler in
                let url = place.url(port: pooler.port)
                try await Self.opened("\(url)&assay_prepared_statements=off").close()
                let refusal = #expect(throws: LedgerStorageError.self) { try PostgreSQLDatabase(url: url) }
                #expect(
                    refusal.map { "\($0)".contains("add assay_prepared_statements=off") } == true, "\(mode) \(more)")
                // Otherwise pgbouncer itself refuses it, or gives it what others have prepared.
                guard mode == "session", !more.isEmpty else { return }
                try await PostgreSQLDatabase(url: LedgerDatabases.allowingAnyEngine(url)).close()
            }
        }
    }

    @Test(
        "Everything works behind pgbouncer, without prepared statements", .postgreSQL,
        arguments: ["transaction", "session"])
    func pooler(mode: String) async throws {
        try await Pooler.with(place, mode) { pooler in
            let url = place.url(port: pooler.port) + "&assay_prepared_statements=off"
            let first = try await LedgerWorld(try await Self.opened(url))
            let second = try await LedgerWorld(try await Self.opened(url), clock: first.clock)
            let evidence = try (0..<120).map { try LedgerWorld.signed("\(5000 + $0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, evidence) in evidence.enumerated() {
                    for world in [first, second] {
                        group.addTask {
                            let outcome = try await world.claim(
                                "\(5000 + number)", customer: "customer \(number % 10)", evidence)
                            #expect(outcome.code == "accepted")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await first.events().count { $0 == "granted" } == 120)
            #expect(try await second.entitlement(of: "customer 3")?.balance == 12)
            try await first.requireConsistency()
            try await first.database.close()
            try await second.database.close()
        }
    }

    /// A database behind a pooler that was just started.
    private static func opened(_ url: String) async throws -> PostgreSQLDatabase {
        for _ in 0..<200 {
            do {
                return try PostgreSQLDatabase(url: url)
            } catch let error as LedgerStorageError where error.kind == .unavailable {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        return try PostgreSQLDatabase(url: url)
    }

    @Test("Over TLS the server's certificate is verified, and another one is refused")
    func tls() async throws {
        try await ThrowawayPostgreSQL.withServer(["ssl=on"]) { server in
            let place = try await server.create("tls")
            func url(_ root: String) -> String {
                "postgres://assay@127.0.0.1:\(server.port)/\(place.name)?sslmode=verify-full&sslrootcert=\(root)"
            }
            let database = try PostgreSQLDatabase(url: url("\(server.folder)/data/server.crt"))
            let world = try await LedgerWorld(database)
            #expect(try await world.claim("1", try LedgerWorld.signed("1")).code == "accepted")
            let versions = try await database.write { connection in
                try connection.rows("SELECT version FROM pg_stat_ssl WHERE ssl AND pid = pg_backend_pid()", [])
            }
            #expect(versions.first?.values == [.text("TLSv1.3")])
            try await world.requireConsistency()
            try await database.close()
            try await TemporaryFolder.with { folder in
                let other = folder.appending(path: "other.crt").path
                let (status, output) = try await ThrowawayPostgreSQL.run(
                    "/usr/bin/env",
                    [
                        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout",
                        folder.appending(path: "other.key").path, "-out", other,
                    ])
                try #require(status == 0, "\(output)")
                let error = #expect(throws: LedgerStorageError.self) { try PostgreSQLDatabase(url: url(other)) }
                #expect(error?.kind == .unavailable && error?.detail.contains("certificate") == true)
            }
        }
    }
}
