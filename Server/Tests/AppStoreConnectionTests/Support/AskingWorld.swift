import AppStoreConnection
import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOFoundationCompat
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import Testing

/// A purchase server with two apps whose key the simulated store made: `game` asks before the first grant, `open`
/// after it. The clocks of the store and of the ledger move together, and only by `advance`.
struct AskingWorld: Sendable {
    /// The bundle id of the app `open`.
    static let open = "com.example.open"
    /// Apple's operations that the server uses in the test.
    static let operations = [
        "transaction", "notification-history", "statuses", "account-token", "consumption", "order", "extend",
    ]

    let store: ConnectionWorld
    let ledger: PurchaseLedger
    let client: LiveClient
    /// The listener for operators.
    let admin: LiveClient
    let clock: LedgerClock
    let connectionClock: ManualClock
    /// The keys of the apps, with all scopes.
    let keys: [String: String]

    /// Runs the body with the server.
    ///
    /// - Parameters:
    ///   - limits: the time limits of an attempt.
    ///   - isPaced: whether Apple's limits hold, on both sides and by the machine's clock.
    ///   - logger: where the server logs.
    static func run(
        limits: AttemptLimits = .patient, isPaced: Bool = false,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        _ body: @escaping @Sendable (AskingWorld) async throws -> Void
    ) async throws {
        try await ConnectionWorld.run { store in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await openSecondShop(store)
            if !isPaced { try await store.post("server-api/limits", ["factor": 1000]) }
            let configuration = try configuration(store, try await store.makeAPIKey(), folder, isPaced)
            let (clock, connectionClock) = (LedgerClock(), ManualClock())
            var timing = AppStoreTiming()
            (timing.answersWithin, timing.looksEvery) = (.milliseconds(isPaced ? 50 : 60_000), .milliseconds(20))
            var dependencies = ServerDependencies()
            dependencies.clock = { clock.now }
            dependencies.appStoreTiming = timing
            dependencies.appStoreLimits = limits
            dependencies.connectionClock = isPaced ? .system : connectionClock.connectionClock()
            // A faster clock, because unoptimised verification would use up what notifications may use.
            dependencies.uptime = { ProcessInfo.processInfo.systemUptime * 1000 }
            let server = try await startPurchaseServer(configuration, dependencies, logger: logger)
            let ledger = server.ledger
            var keys: [String: String] = [:]
            for app in configuration.apps.keys {
                keys[app] = try await ledger.perform(
                    CreateAPIKey(app: app, name: "all", scopes: Set(APIKeyScope.allCases))
                ).text
            }
            let secrets = keys
            let (addresses, opened) = AsyncStream.makeStream(of: String.self)
            try await server.application(onAdminReady: { opened.yield($0) }).live { client in
                var admin: LiveClient?
                for await address in addresses {
                    admin = URL(string: address)?.port.map { LiveClient(port: $0) }
                    break
                }
                try await store.post(
                    "notifications/url", ["url": "http://127.0.0.1:\(client.port)/notifications/v2"])
                let world = AskingWorld(
                    store: store, ledger: ledger, client: client, admin: try #require(admin), clock: clock,
                    connectionClock: connectionClock, keys: secrets)
                try await body(world)
                let findings = try await findingsAtRest { try await ledger.audit().findings }
                #expect(findings == [], "the audit found differences")
            }
        }
    }

    private static func openSecondShop(_ store: ConnectionWorld) async throws {
        try await store.post("apps", ["bundle_id": open])
        try await store.post("products", ["bundle_id": open, "product_id": "coins", "kind": "consumable"])
        try await store.post(
            "products",
            [
                "bundle_id": open, "product_id": "gold", "kind": "auto-renewable", "price": 9990,
                "subscription": ["group_id": "open", "period": "P1M"],
            ])
    }

    private static func configuration(
        _ store: ConnectionWorld, _ key: AppStoreServerKey, _ folder: URL, _ isPaced: Bool
    ) throws -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.admin = .port(host: "127.0.0.1", 0)
        configuration.database = "sqlite:\(folder.appendingPathComponent("assay.sqlite").path)"
        configuration.record.folder = folder.path
        configuration.anchors = try TrustAnchor.certificates(of: ConnectionWorld.authority.get())
        for (name, bundleID, mode) in [("game", ConnectionWorld.app, AppStoreMode.apple), ("open", open, .both)] {
            var app = RegisteredApp(id: name, bundleIDs: [bundleID])
            app.products = [
                "coins": RegisteredProduct(kind: .consumable), "gold": RegisteredProduct(kind: .autoRenewable),
            ]
            (app.mode, app.hasAppStoreKey, app.setsAccountTokens) = (mode, true, true)
            app.environments = [.production]
            configuration.apps[name] = app
            configuration.appStoreKeys[name] = [key]
        }
        configuration.appStore.serverAPIProduction = store.https
        configuration.appStore.serverAPISandbox = "\(store.https)/sandbox"
        configuration.appStore.tlsTrust = store.trustFile
        configuration.appStore.serverAPILimitPercent = isPaced ? 100 : 100_000
        // The claims of a test come faster than one backend may send them.
        configuration.limits.perKey = RateLimit(perSecond: 100_000, burst: 100_000)
        return configuration
    }

    /// Lets time pass for everybody. The pauses of the connection pass, too.
    func advance(seconds: Int64) async throws {
        try await store.post("clock", ["advance_seconds": Int(seconds)])
        clock.advance(seconds: seconds)
        connectionClock.advance(.seconds(60))
    }

    /// Lets time pass in steps of ten minutes until something is true.
    func pass(_ words: String, until isTrue: () async throws -> Bool) async throws {
        for _ in 0..<40 {
            for _ in 0..<40 {
                if try await isTrue() { return }
                try await Task.sleep(for: .milliseconds(25))
            }
            try await advance(seconds: 600)
        }
        Issue.record("\(words)")
    }

    /// A purchase in the store.
    struct Bought: Sendable {
        let id: String
        let order: String
        let signed: String
    }

    func buy(
        _ product: String, by customer: String, in bundleID: String = ConnectionWorld.app, quantity: Int = 1
    ) async throws -> Bought {
        let answer = try await store.post(
            "purchases",
            ["bundle_id": bundleID, "product_id": product, "customer_id": customer, "quantity": quantity])
        let transaction = try #require(answer["transaction"] as? [String: Any])
        let evidence = try #require(answer["evidence"] as? [String: Any])
        return Bought(
            id: try #require(transaction["transaction_id"] as? String),
            order: try #require(answer["order_id"] as? String),
            signed: try #require(evidence["signed_transaction"] as? String))
    }

    struct Answer: Sendable {
        let status: Int
        let body: String
        let code: String
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ members: [String: Any]? = nil, as app: String
    ) async throws -> Answer {
        let response = try await client.execute(
            uri: path, method: method,
            headers: [.authorization: "Bearer \(keys[app] ?? "")", .contentType: "application/json"],
            body: try members.map { ByteBuffer(data: try JSONSerialization.data(withJSONObject: $0)) })
        let body = String(buffer: response.body)
        let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        return Answer(status: response.status.code, body: body, code: object?["code"] as? String ?? "")
    }

    /// Claims a purchase.
    func claim(_ bought: Bought, _ product: String, by customer: String, as app: String) async throws -> Answer {
        try await send(
            .post, "/v1/purchases",
            [
                "product_id": product, "transaction_id": bought.id, "customer_id": customer,
                "signed_transaction": bought.signed,
            ], as: app)
    }

    /// The state of a customer's subscription, or the balance of coins.
    func state(_ product: String, of customer: String, in app: String) async throws -> String? {
        try await ledger.answer(EntitlementsOfCustomer(app: app, customerID: customer, environment: nil, at: nil))
            .entitlements.first { $0.productID == product }.map {
                product == "coins" ? "\($0.balance)" : "\($0.state)"
            }
    }

    /// The purchases of a type of event, such as `granted`.
    func events(_ type: String, in app: String) async throws -> Int {
        try await ledger.answer(EventList(app: app, limit: 1000)).count { $0.type == type }
    }

    /// The ids of all notifications that the ledger has.
    func received() async throws -> Set<String> {
        var ids: Set<String> = []
        for app in keys.keys {
            ids.formUnion(
                try await ledger.answer(NotificationList(app: app, limit: 500)).entries.compactMap {
                    $0.notificationID.map { $0.lowercased() }
                })
        }
        return ids
    }

    /// The ids of all notifications that the store made.
    func sent() async throws -> Set<String> {
        let page = try await store.call("lists/notifications?limit=100", .get)
        let items = try #require(page["items"] as? [[String: Any]])
        return Set(items.compactMap { ($0["notification_uuid"] as? String)?.lowercased() })
    }
}
