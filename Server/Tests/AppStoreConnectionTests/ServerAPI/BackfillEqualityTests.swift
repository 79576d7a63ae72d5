import AppStoreConnection
import AppStoreSimulator
import EvidenceMint
import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOFoundationCompat
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// Random histories of the store, of whose notifications a server gets seven in ten. `ASSAY_BACKFILL_HISTORIES` sets
/// their number.
@Suite("Notifications that were lost", .serialized)
struct BackfillEqualityTests {
    private static let count =
        ProcessInfo.processInfo.environment["ASSAY_BACKFILL_HISTORIES"].flatMap { UInt64($0) } ?? 3
    /// The seed of the first history: several processes share many histories.
    private static let first =
        ProcessInfo.processInfo.environment["ASSAY_BACKFILL_FIRST"].flatMap { UInt64($0) } ?? 1
    private static let steps = 30
    /// The notifications of all histories, and how many of them the server lost.
    private static let sums = Mutex((read: 0, lost: 0))
    private static let customers = ["ada", "bob", "eve"]

    @Test(
        "A server that loses three in ten notifications and reads them from Apple has the state of one that got all",
        arguments: first..<(first + count))
    func equality(seed: UInt64) async throws {
        try await RecordingServer.run(answer: { _ in .json("{}") }) { inbox, port in
            let time = SimulatorTime()
            let target = EvidenceTarget(takesNotifications: true)
            var settings = SimulatorConfiguration()
            (settings.port, settings.clock, settings.firstTransaction) = (0, ConnectionWorld.start, 1)
            (settings.time, settings.target) = (time, target)
            let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let store = try simulatorServer(settings, authority: try ConnectionWorld.authority.get(), logger: silent)
            try target.set("http://127.0.0.1:\(port)", key: nil)
            try await store.live { control in
                let store = ConnectionWorld(control: control, https: "", trustFile: "")
                try await Self.compare(store, inbox, time, seed, silent)
            }
        }
    }

    private static func compare(
        _ store: ConnectionWorld, _ inbox: RecordingServer, _ time: SimulatorTime, _ seed: UInt64, _ silent: Logger
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // The clock of both servers shows a time when the store has sent everything until then: the simulated clock
        // jumps over days, and what happens in them is sent after the jump.
        let clock = Mutex(time.now)
        let show: @Sendable () -> Timestamp = { clock.withLock { Timestamp($0) } }
        let complete = try await server("complete", nil, store, folder, show, silent)
        let tokens = try await openShop(store, seed)
        try await store.post("server-api/limits", ["factor": 1000])
        let lossy = try await server("lossy", try await store.makeAPIKey(), store, folder, show, silent)
        for (customer, token) in tokens {
            for ledger in [complete.ledger, lossy.ledger] {
                _ = try await ledger.perform(AssignToken(app: "game", customerID: customer, token: token))
            }
        }
        try await lossy.application().live { client in
            var random = SeededGenerator(seed: seed)
            var (read, lost) = (0, 0)
            for _ in 0..<steps {
                try await happen(store, tokens, &random)
                try await arrive(inbox, store, &read) { body in
                    _ = try await complete.ledger.observe(
                        EvidenceSubmission(sentNotification: Array(try payload(body).utf8)))
                    guard Int.random(in: 0..<10, using: &random) >= 3 else {
                        lost += 1
                        return
                    }
                    let answer = try await client.execute(
                        uri: "/notifications/v2", method: .post, headers: [.contentType: "application/json"],
                        body: ByteBuffer(string: body))
                    #expect(answer.status == .ok, "\(String(buffer: answer.body))")
                }
                clock.withLock { $0 = time.now }
            }
            #expect(read > 0)
            Self.sums.withLock { ($0.read, $0.lost) = ($0.read + read, $0.lost + lost) }
            // What was sent last is read an hour later.
            func passTwoHours() async throws -> Int64 {
                let last = Int64(time.now.timeIntervalSince1970 * 1000)
                try await advance(store, hours: 2)
                try await arrive(inbox, store, &read) { body in
                    _ = try await complete.ledger.observe(
                        EvidenceSubmission(sentNotification: Array(try payload(body).utf8)))
                }
                clock.withLock { $0 = time.now }
                return last + 3_600_000
            }
            // Until nothing was sent in the last hours, because what is sent in them is read an hour later.
            var quiet = 0
            while quiet < 2 {
                let before = read
                var end = try await passTwoHours()
                // A call that failed on a busy machine is made again after a pause, by the clock of the store.
                for _ in 0..<60 where try await !isRead(upTo: end, lossy.ledger) { end = try await passTwoHours() }
                quiet = read == before ? quiet + 1 : 0
            }
            for customer in tokens.keys.sorted() {
                let expected = try await state(of: customer, complete.ledger)
                let found = try await state(of: customer, lossy.ledger)
                #expect(found == expected, "\(customer) of \(seed)")
            }
            let numbers = try await [complete.ledger, lossy.ledger].asyncMap {
                try await $0.answer(NotificationList(app: "game", limit: 500)).entries.count
            }
            #expect(numbers[0] == numbers[1], "each notification counts once")
            #expect(try await lossy.ledger.audit().findings == [])
        }
        try await complete.close()
    }

    @Test("About three in ten notifications of the histories above were lost")
    func losses() {
        let (read, lost) = Self.sums.withLock { $0 }
        // The suite is serial. With a filter of single tests there is nothing to count.
        #expect(read == 0 || lost * 10 > read && lost * 2 < read, "\(lost) of \(read)")
    }

    /// Whether a backfill reads everything up to a time within some seconds.
    private static func isRead(upTo time: Int64, _ ledger: PurchaseLedger) async throws -> Bool {
        struct Progress: Decodable {
            let seen: Int64?
        }
        let query = WorkState(
            .notifications, app: "game", environment: .production, subject: ConnectionWorld.app)
        for _ in 0..<500 {
            let text = try await ledger.answer(query)?.progress ?? "{}"
            let seen = try JSONDecoder().decode(Progress.self, from: Data(text.utf8)).seen
            if let seen, seen > time { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    /// What the ledger says of a customer.
    private static func state(of customer: String, _ ledger: PurchaseLedger) async throws -> [String] {
        let entitlements = try await ledger.answer(
            EntitlementsOfCustomer(app: "game", customerID: customer, environment: nil, at: nil)
        ).entitlements.map {
            "\($0.productID) \($0.state) \($0.balance) \($0.until.map { "\($0)" } ?? "")"
        }
        let purchases = try await ledger.answer(PurchasesOfCustomer(app: "game", customerID: customer, limit: 500))
            .entries.map {
                "\($0.transactionID) \($0.expiresAt.map { "\($0)" } ?? "") \($0.withdrawal.map(words) ?? "")"
            }
        return entitlements.sorted() + purchases.sorted()
    }

    /// A withdrawal without the time of its signature: a server that asks about a subscription gets the same facts,
    /// signed anew.
    private static func words(_ withdrawal: Withdrawal) -> String {
        "\(withdrawal.date) \(withdrawal.cause) \(withdrawal.units) \(withdrawal.isFamilyRevoke) "
            + "\(withdrawal.appStoreReason.map { "\($0)" } ?? "")"
    }

    /// Lets something happen in the store.
    private static func happen(
        _ store: ConnectionWorld, _ tokens: [String: UUID], _ random: inout SeededGenerator
    ) async throws {
        let customer = customers[Int.random(in: 0..<customers.count, using: &random)]
        let kind = Int.random(in: 0..<10, using: &random)
        let listed = try await store.call("lists/transactions?limit=100", .get)["items"] as? [[String: Any]] ?? []
        let ids = listed.compactMap { $0["transaction_id"] as? String }.sorted()
        let id = ids.isEmpty ? nil : ids[Int.random(in: 0..<ids.count, using: &random)]
        // The store refuses some actions, such as the second refund of a purchase.
        switch (kind, id) {
        case (0..<4, _), (_, nil):
            try await act(
                store,
                "purchases",
                [
                    "bundle_id": ConnectionWorld.app, "product_id": kind % 2 == 0 ? "coins" : "gold",
                    "customer_id": customer, "app_account_token": tokens[customer]?.uuidString.lowercased() ?? "",
                ])
        case (4..<6, let id?): try await act(store, "transactions/\(id)/refund", [:])
        case (6, let id?): try await act(store, "transactions/\(id)/reverse-refund", [:])
        case (7, let id?):
            try await act(store, "subscriptions/\(id)/billing", ["works": Bool.random(using: &random)])
        default: break
        }
        try await advance(store, hours: Int.random(in: 1...200, using: &random))
    }

    /// Does something that the store may refuse.
    private static func act(_ store: ConnectionWorld, _ path: String, _ body: [String: Any]) async throws {
        let data = try JSONSerialization.data(withJSONObject: body)
        _ = try await store.control.execute(
            uri: "/control/\(path)", method: .post, headers: [.contentType: "application/json"],
            body: ByteBuffer(data: data))
    }

    private static func advance(_ store: ConnectionWorld, hours: Int) async throws {
        try await store.post("clock", ["advance_seconds": hours * 3600])
    }

    /// Waits until the store has sent what is due, and takes what is new.
    private static func arrive(
        _ inbox: RecordingServer, _ store: ConnectionWorld, _ read: inout Int,
        _ body: (String) async throws -> Void
    ) async throws {
        for _ in 0..<30_000 {
            let state = try await store.call("notifications", .get)
            if state["waiting"] as? Int == 0 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        for request in inbox.requests.dropFirst(read) {
            read += 1
            try await body(request.body)
        }
    }

    private static func payload(_ body: String) throws -> String {
        struct Body: Decodable {
            let signedPayload: String
        }
        return try JSONDecoder().decode(Body.self, from: Data(body.utf8)).signedPayload
    }

    private static func openShop(_ store: ConnectionWorld, _ seed: UInt64) async throws -> [String: UUID] {
        try await store.post("apps", ["bundle_id": ConnectionWorld.app])
        try await store.post(
            "products", ["bundle_id": ConnectionWorld.app, "product_id": "coins", "kind": "consumable"])
        try await store.post(
            "products",
            [
                "bundle_id": ConnectionWorld.app, "product_id": "gold", "kind": "auto-renewable", "price": 9990,
                "subscription": ["group_id": "club", "period": "P1M"],
            ])
        var tokens: [String: UUID] = [:]
        for customer in customers {
            try await store.post("customers", ["customer_id": customer, "environment": "production"])
            tokens[customer] = UUID()
        }
        return tokens
    }

    private static func server(
        _ name: String, _ key: AppStoreServerKey?, _ store: ConnectionWorld, _ folder: URL,
        _ clock: @escaping @Sendable () -> Timestamp,
        _ silent: Logger
    ) async throws -> StartedServer {
        var app = RegisteredApp(id: "game", bundleIDs: [ConnectionWorld.app])
        app.products = [
            "coins": RegisteredProduct(kind: .consumable), "gold": RegisteredProduct(kind: .autoRenewable),
        ]
        app.hasAppStoreKey = key != nil
        app.environments = [.production]
        var configuration = ServerConfiguration()
        configuration.port = 0
        let own = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        configuration.database = "sqlite:\(own.appendingPathComponent("assay.sqlite").path)"
        configuration.record.folder = own.path
        configuration.anchors = try TrustAnchor.certificates(of: ConnectionWorld.authority.get())
        configuration.apps = ["game": app]
        if let key { configuration.appStoreKeys = ["game": [key]] }
        configuration.appStore.serverAPIProduction = store.http
        configuration.appStore.serverAPISandbox = "\(store.http)/sandbox"
        configuration.appStore.serverAPILimitPercent = 100_000
        var timing = AppStoreTiming()
        timing.looksEvery = .milliseconds(20)
        var dependencies = ServerDependencies()
        dependencies.clock = clock
        dependencies.appStoreTiming = timing
        dependencies.uptime = { ProcessInfo.processInfo.systemUptime * 1000 }
        return try await startPurchaseServer(configuration, dependencies, logger: silent)
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
