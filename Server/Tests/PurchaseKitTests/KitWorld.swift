import AppStoreSimulator
import Crypto
import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import KitTestSupport
import Logging
import NIOCore
import PurchaseAPI
import PurchaseKit
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// A simulated store and a purchase server, both over real HTTP, and a signing key of the server.
struct KitWorld: Sendable {
    let simulator: LiveClient
    let server: LiveClient
    let signer: AnswerSigner
    /// A key with the scope `client`, one that can read, and one of an operator.
    let clientKey: String
    let backendKey: String
    let adminKey: String
    let folder: URL
    let clock: KitClock

    static let bundleID = "com.example.app"

    static let app: RegisteredApp = {
        var app = RegisteredApp(id: "example", bundleIDs: [bundleID])
        app.products = [
            "coins": RegisteredProduct(kind: .consumable),
            "pro": RegisteredProduct(kind: .nonConsumable, entitlements: ["pro"]),
            "monthly": RegisteredProduct(kind: .autoRenewable, entitlements: ["pro"]),
            "yearly": RegisteredProduct(kind: .autoRenewable, entitlements: ["pro"]),
        ]
        app.sandboxAccess = .everyone
        return app
    }()

    static func anchors() throws -> [TrustAnchor] {
        try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
    }

    /// Runs the body with its own store and server.
    static func run(
        _ app: RegisteredApp = KitWorld.app, _ body: @escaping @Sendable (KitWorld) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-kit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            // A leftover folder in the temporary folder does no harm.
            try? FileManager.default.removeItem(at: folder)
        }
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let clock = KitClock()
        let signer = AnswerSigner()
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.anchors = try anchors()
        configuration.apps = [app.id: app]
        configuration.answerSigner = signer
        configuration.database = "sqlite:\(folder.appending(path: "assay.sqlite").path)"
        configuration.record.folder = folder.path
        var dependencies = ServerDependencies()
        dependencies.clock = { Timestamp(clock.now) }
        let started = try await startPurchaseServer(configuration, dependencies, logger: silent)
        let ledger = started.ledger
        let clientKey = try await ledger.perform(CreateAPIKey(app: app.id, name: "app", scopes: [.client])).text
        let backendKey = try await ledger.perform(CreateAPIKey(app: app.id, name: "b", scopes: [.backend])).text
        let adminKey = try await ledger.perform(CreateAPIKey(app: app.id, name: "a", scopes: [.admin])).text
        var settings = SimulatorConfiguration()
        settings.port = 0
        let store = try simulatorServer(settings, authority: try MintedWorld.store(), logger: silent)
        try await store.live { simulator async throws in
            try await started.application().live { server async throws in
                let world = KitWorld(
                    simulator: simulator, server: server, signer: signer, clientKey: clientKey,
                    backendKey: backendKey, adminKey: adminKey, folder: folder, clock: clock)
                try await world.openShop()
                try await body(world)
                let findings = try await findingsAtRest { try await ledger.audit().findings }
                #expect(findings == [], "the audit found differences")
            }
        }
    }

    private func openShop() async throws {
        let simulated = SimulatorDevice(port: simulator.port, customerID: "nobody")
        try await simulated.control("apps", ["bundle_id": Self.bundleID, "grace_period_days": 16])
        for (product, kind) in [("coins", "consumable"), ("pro", "non-consumable")] {
            try await simulated.control(
                "products",
                [
                    "bundle_id": Self.bundleID, "product_id": product, "kind": kind,
                    "is_family_shareable": kind == "non-consumable",
                ])
        }
        for (product, level) in [("yearly", 1), ("monthly", 2)] {
            try await simulated.control(
                "products",
                [
                    "bundle_id": Self.bundleID, "product_id": product, "kind": "auto-renewable",
                    "subscription": ["group_id": "club", "level": level, "period": level == 1 ? "P1Y" : "P1M"],
                ])
        }
    }

    /// A device of a new customer.
    func device(
        _ customer: String = "customer-\(UUID().uuidString.prefix(8).lowercased())", isSigned: Bool = true,
        environment: String = "production"
    ) async throws -> KitDevice {
        let simulated = SimulatorDevice(port: simulator.port, customerID: customer, isSigned: isSigned)
        try await simulated.control("customers", ["customer_id": customer, "environment": environment])
        return KitDevice(world: self, customer: customer, simulated: simulated)
    }

    /// Lets time pass, in the store, at the server and on devices; what is due in the store happens.
    func pass(days: Double, _ devices: KitDevice...) async throws {
        clock.pass(days * 86_400)
        try await SimulatorDevice(port: simulator.port, customerID: "nobody")
            .control("clock", ["advance_seconds": Int(days * 86_400)])
        for device in devices { device.time.pass(days * 86_400) }
    }

    /// Creates an order, as the app's backend does.
    func order(_ product: String, for customer: String) async throws -> OrderMessage {
        let request = OrderRequest(customerID: customer, productID: product)
        let answer = try await server.execute(
            uri: "/v1/orders", method: .post,
            headers: [
                .authorization: "Bearer \(backendKey)",
                try #require(HTTPField.Name("Idempotency-Key")): UUID().uuidString,
            ],
            body: ByteBuffer(bytes: try JSONEncoder().encode(request)))
        return try message(answer)
    }

    /// The body of an answer that succeeded.
    private func message<Message: Decodable>(_ answer: LiveResponse) throws -> Message {
        try #require(answer.status.code < 300, "\(answer.status): \(String(buffer: answer.body))")
        return try JSONDecoder().decode(Message.self, from: Data(answer.body.readableBytesView))
    }

    /// The state of an order.
    func order(_ orderID: String) async throws -> OrderMessage {
        let answer = try await server.execute(
            uri: "/v1/orders/\(orderID)", method: .get, headers: [.authorization: "Bearer \(backendKey)"])
        return try message(answer)
    }

    /// Merges a customer into another, as the app's backend does, and names the survivor.
    @discardableResult
    func merge(_ guestID: String, into customerID: String) async throws -> String {
        let answer = try await server.execute(
            uri: "/v1/customers/\(guestID)/merge", method: .post, headers: [.authorization: "Bearer \(backendKey)"],
            body: ByteBuffer(bytes: try JSONEncoder().encode(MergeRequest(into: customerID))))
        let merged: MergeMessage = try message(answer)
        return merged.into
    }

    /// Transfers a purchase, as an operator does.
    func move(_ transactionID: String, to customerID: String) async throws {
        let answer = try await server.execute(
            uri: "/v1/purchases/\(transactionID)/move", method: .post,
            headers: [.authorization: "Bearer \(adminKey)"],
            body: ByteBuffer(bytes: try JSONEncoder().encode(MoveRequest(customerID: customerID, reason: "test"))))
        try #require(answer.status.code < 300, "\(answer.status): \(String(buffer: answer.body))")
    }

    /// Consumes a unit, as the app's backend does.
    func consume(_ product: String, by customer: String) async throws {
        let request = ConsumptionRequest(productID: product, consumptionID: UUID().uuidString)
        let answer = try await server.execute(
            uri: "/v1/customers/\(customer)/consume", method: .post,
            headers: [
                .authorization: "Bearer \(backendKey)",
                try #require(HTTPField.Name("Idempotency-Key")): UUID().uuidString,
            ],
            body: ByteBuffer(bytes: try JSONEncoder().encode(request)))
        try #require(answer.status.code < 300, "\(answer.status): \(String(buffer: answer.body))")
    }

    /// How often the server granted or renewed something for a customer, by its events.
    func grants(to customer: String) async throws -> Int {
        let answer = try await server.execute(
            uri: "/v1/events?limit=500", method: .get, headers: [.authorization: "Bearer \(backendKey)"])
        let page: EventPage = try message(answer)
        return page.events.count { $0.customerID == customer && ($0.type == .granted || $0.type == .renewed) }
    }

    /// The entitlements of a customer, as the server returns them.
    func entitlements(of customer: String) async throws -> [EntitlementMessage] {
        let answer = try await server.execute(
            uri: "/v1/customers/\(customer)/entitlements", method: .get,
            headers: [.authorization: "Bearer \(backendKey)"])
        let list: EntitlementList = try message(answer)
        return list.entitlements
    }
}

/// A device with the kit. `engine()` starts the app: each call is a new run over the same store.
struct KitDevice: Sendable {
    let world: KitWorld
    let customer: String
    let simulated: SimulatorDevice
    let link: KitLink
    let queue: KitQueue
    let receipts: KitReceipts
    let time = KitTime()
    let store: FilePurchaseStore

    init(world: KitWorld, customer: String, simulated: SimulatorDevice) {
        (self.world, self.customer, self.simulated) = (world, customer, simulated)
        link = KitLink(world.server)
        queue = KitQueue(simulated)
        receipts = KitReceipts(simulated)
        store = FilePurchaseStore(
            file: world.folder.appending(path: "\(customer).purchases"),
            key: SymmetricKey(data: Array("the key of the test's own store.".utf8)))
    }

    /// A run of the app in which the customer is signed in.
    func engine(
        isSignedIn: Bool = true, hasServer: Bool = true, keys: AnswerKeys? = nil, version: String = "1.0",
        bundleID: String = KitWorld.bundleID, device: (any DeviceIdentity)? = nil,
        store other: (any PurchaseStore)? = nil, anchors: [TrustAnchor]? = nil, apiKey: String? = nil,
        life: any AppLife = NoAppLife(), time otherTime: (any PurchaseTime)? = nil,
        token: PurchaseConnection.CustomerToken? = nil,
        // What has ended ends at once: most of these tests let months pass in one step.
        offline: OfflineLimit = OfflineLimit(leeway: 0)
    ) async throws -> PurchaseEngine {
        let keys = try keys ?? AnswerKeys(current: world.signer.publicKey)
        let engine = PurchaseEngine(
            queue: queue, receipts: receipts,
            verifier: DeviceVerifier(
                app: AppIdentity(bundleID: bundleID, version: version), device: device ?? simulated,
                anchors: try anchors ?? KitWorld.anchors()),
            server: hasServer
                ? PurchaseConnection(
                    service: link, key: apiKey ?? world.clientKey, answerKeys: keys, customerToken: token) : nil,
            store: other ?? store, life: life, time: otherTime ?? time, offline: offline)
        if isSignedIn { await engine.signIn(PurchaseCustomer(id: customer)) }
        return engine
    }

    /// The units of coins that the server has granted to the customer.
    func coins() async throws -> Int64 {
        try await world.entitlements(of: customer).filter { $0.productID == "coins" }.reduce(0) {
            $0 + ($1.balance ?? 0)
        }
    }

    /// The transactions that the app has not finished.
    func unfinished() async throws -> Int { try await simulated.unfinished().count }
}
