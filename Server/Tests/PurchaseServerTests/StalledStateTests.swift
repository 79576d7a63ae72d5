import Foundation
import Logging
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The drop-in while its database does not answer. The clock of the deadlines moves on command only, so nothing here
/// depends on the speed of the machine: an answer that comes while the clock stands still has not waited for it.
@Suite("verifyReceipt while the database stands still")
struct StalledStateTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    /// Holds threads until the test opens it.
    private final class Gate: Sendable {
        private let end = DispatchSemaphore(value: 0)
        private let arrived = Mutex(0)

        var count: Int { arrived.withLock { $0 } }

        func pass() {
            arrived.withLock { $0 += 1 }
            end.wait()
        }

        func open() {
            for _ in 0..<count { end.signal() }
        }
    }

    /// The state of an answer, when it has come.
    private final class Answer: Sendable {
        private let content = Mutex<String?>(nil)

        var state: String? { content.withLock { $0 } }

        func note(_ reply: DropInWorld.Reply) {
            let state = reply.state ?? "none"
            content.withLock { $0 = state }
        }
    }

    /// A read that occupies a connection.
    private struct Occupation: LedgerQuery {
        static let access = LedgerReadAccess.statement

        let gate: Gate

        func answer(_: LedgerTransaction) { gate.pass() }
    }

    @Test(
        "30.3 An answer waits for the database until the limit and no longer, and not at all while two reads are late")
    func deadline() async throws {
        let uptime = TestUptime()
        try await PurchaseServerWorld.run(uptime: uptime) { world async throws in
            world.clock.advance(days: 31)
            try await DropInWorld.tell(world.client, DropInWorld.signed(2), on: 30.5)
            let receipt = try DropInWorld.receipt()
            #expect(try await DropInWorld.ask(world.client, receipt).state == "live")
            // As many reads as SQLite has connections for them.
            let (gate, readers) = (Gate(), 2)
            let occupations = (0..<readers).map { _ in
                Task { try await world.ledger.answer(Occupation(gate: gate)) }
            }
            try await Self.wait("the connections were not occupied") { gate.count == readers }
            for _ in 0..<2 {
                let answer = Answer()
                let question = Task { answer.note(try await DropInWorld.ask(world.client, receipt)) }
                // Longer than the limit, on a clock that is not the one of the limit.
                try await Task.sleep(for: .milliseconds(150))
                uptime.advance(seconds: 0.049)
                try await Task.sleep(for: .milliseconds(150))
                #expect(answer.state == nil, "the answer did not wait for the database until the limit")
                try await Self.wait("the answer waits beyond the limit") {
                    uptime.advance(seconds: 0.05)
                    return answer.state != nil
                }
                try await question.value
                #expect(answer.state == "as-of-signing")
            }
            // The clock stands still.
            for _ in 0..<3 {
                let reply = try await DropInWorld.ask(world.client, receipt)
                #expect(reply.state == "as-of-signing" && reply.status == 0)
            }
            gate.open()
            for occupation in occupations { try await occupation.value }
            try await Self.wait("the state does not come back") {
                try await DropInWorld.ask(world.client, receipt).state == "live"
            }
        }
    }

    @Test("30.3 A writer that holds the lock of SQLite does not delay an answer", .server)
    func lockedFile() async throws {
        world.clock.advance(days: 31)
        try await DropInWorld.tell(world.client, DropInWorld.signed(2), on: 30.5)
        let receipt = try DropInWorld.receipt()
        let other = try SQLiteDatabase(path: world.path)
        let gate = Gate()
        let writer = Task {
            try await other.write(plan: { LedgerWritePlan(locks: .parts([])) }) { _ in gate.pass() }
        }
        try await Self.wait("the lock was not taken") { gate.count == 1 }
        let states = try await Self.load(world.client, receipt)
        gate.open()
        try await writer.value
        try await other.close()
        #expect(states == ["live": Self.questions])
    }

    @Test(
        "30.3 PostgreSQL is stopped, locked and killed under load: every answer comes and has its state, and later it is live again"
    )
    func postgreSQL() async throws {
        try await ThrowawayPostgreSQL.withServer { server in
            let place = try await server.create("live")
            let uptime = TestUptime()
            try await Self.serve(place.url(), uptime) { client, clock in
                clock.advance(days: 31)
                try await DropInWorld.tell(client, DropInWorld.signed(2), on: 30.5)
                let receipt = try DropInWorld.receipt()
                for outage in Outage.allCases {
                    // While the clock of the limit stands still, every answer waits for the database.
                    #expect(try await Self.load(client, receipt) == ["live": Self.questions])
                    let ticker = Task {
                        while !Task.isCancelled {
                            uptime.advance(seconds: 0.01)
                            try await Task.sleep(for: .milliseconds(10))
                        }
                    }
                    async let during = Self.load(client, receipt)
                    let end = try await outage.begin(place)
                    let states = try await during
                    #expect(states.keys.allSatisfy { ["live", "as-of-signing"].contains($0) }, "\(outage): \(states)")
                    let silent = try await Self.load(client, receipt)
                    ticker.cancel()
                    try await end()
                    #expect(silent == ["as-of-signing": Self.questions], "\(outage)")
                    try await Self.wait("the state does not come back after \(outage)") {
                        try await DropInWorld.ask(client, receipt).state == "live"
                    }
                }
            }
        }
    }

    /// What happens to the database.
    private enum Outage: String, CaseIterable {
        case stopped
        case locked
        case killed

        /// - Returns: what ends it.
        func begin(_ place: ThrowawayPostgreSQL.Database) async throws -> @Sendable () async throws -> Void {
            let server = place.server
            switch self {
            case .stopped:
                let processes = try await Self.processes(of: server)
                for process in processes { kill(process, SIGSTOP) }
                return { for process in processes.reversed() { kill(process, SIGCONT) } }
            case .killed:
                for process in try await Self.processes(of: server) { kill(process, SIGKILL) }
                return {
                    try await StalledStateTests.wait("PostgreSQL does not start") {
                        do {
                            try await server.control("start")
                            return true
                        } catch {
                            // The processes before it have not ended yet.
                            return false
                        }
                    }
                }
            case .locked:
                let holder = Task {
                    try await Self.query(
                        place, "BEGIN", "LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE", "SELECT pg_sleep(3600)")
                }
                let held = """
                    FROM pg_locks WHERE relation = 'transactions'::regclass AND mode = 'AccessExclusiveLock' AND granted
                    """
                try await StalledStateTests.wait("the table was not locked") {
                    try await Self.query(place, "SELECT count(*) \(held)").hasPrefix("1")
                }
                return {
                    _ = try await Self.query(place, "SELECT pg_terminate_backend(pid) \(held)")
                    _ = try await holder.value
                }
            }
        }

        /// The first process and its children.
        private static func processes(of server: ThrowawayPostgreSQL.Server) async throws -> [Int32] {
            let first = try #require(try server.process)
            let children = try await ThrowawayPostgreSQL.run("/usr/bin/env", ["pgrep", "-P", "\(first)"]).output
            return [first] + children.split(separator: "\n").compactMap { Int32($0) }
        }

        private static func query(_ place: ThrowawayPostgreSQL.Database, _ statements: String...) async throws -> String
        {
            try await ThrowawayPostgreSQL.run(
                "\(place.server.programs)/psql",
                ["-h", place.server.folder, "-p", "\(place.server.port)", "-U", "assay", "-d", place.name, "-qtA"]
                    + statements.flatMap { ["-c", $0] }
            ).output
        }
    }

    private static let questions = 96

    /// Asks from eight clients, each of which asks again as soon as it has an answer.
    ///
    /// - Returns: how many answers had each state.
    private static func load(_ client: LiveClient, _ receipt: [UInt8]) async throws -> [String: Int] {
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var states: [String] = []
                    for _ in 0..<questions / 8 {
                        let reply = try await DropInWorld.ask(client, receipt)
                        #expect(reply.status == 0)
                        states.append(reply.state ?? "none")
                    }
                    return states
                }
            }
            var counts: [String: Int] = [:]
            for try await states in group { for state in states { counts[state, default: 0] += 1 } }
            return counts
        }
    }

    private static func wait(_ words: Comment, until isTrue: () async throws -> Bool) async throws {
        for _ in 0..<30_000 {
            if try await isTrue() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record(words)
    }

    /// Runs a server on PostgreSQL.
    private static func serve(
        _ url: String, _ uptime: TestUptime, _ body: @escaping @Sendable (LiveClient, TestClock) async throws -> Void
    ) async throws {
        let folder = try FileManager.default.temporaryFolder()
        defer { FileManager.default.remove(folder) }
        var configuration = ServerConfiguration()
        (configuration.port, configuration.database, configuration.record.folder) = (0, url, folder.path)
        configuration.anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        configuration.apps = ["example": PurchaseServerWorld.app]
        let clock = TestClock()
        var dependencies = ServerDependencies()
        dependencies.clock = { clock.now }
        dependencies.uptime = uptime.read
        let server = try await startPurchaseServer(configuration, dependencies, logger: PurchaseServerWorld.silent)
        try await server.application().live { client in try await body(client, clock) }
    }
}
