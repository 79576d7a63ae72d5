import AppStoreConnection
import EvidenceMint
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
import Synchronization
import Testing

/// A purchase server that asks a simulated store about claims.
struct AppStoreClaimWorld: Sendable {
    let store: ConnectionWorld
    let ledger: PurchaseLedger
    let client: LiveClient
    let clock: LedgerClock
    /// The clock of the pauses and circuit breakers.
    let connectionClock: ManualClock
    let key: String

    /// Runs the body with a server whose app has a mode.
    static func run(
        _ mode: AppStoreMode, answersWithin: Duration = .seconds(300),
        _ change: @escaping @Sendable (inout ServerConfiguration, ConnectionWorld) -> Void = { _, _ in },
        _ body: @escaping @Sendable (AppStoreClaimWorld) async throws -> Void
    ) async throws {
        try await ConnectionWorld.run { store in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            var configuration = ServerConfiguration()
            configuration.port = 0
            configuration.database = "sqlite:\(folder.appendingPathComponent("assay.sqlite").path)"
            configuration.record.folder = folder.path
            configuration.anchors = try TrustAnchor.certificates(of: ConnectionWorld.authority.get())
            configuration.sharedSecrets = [ConnectionWorld.app: ConnectionWorld.secret]
            configuration.appStore.verifyReceiptProduction = "\(store.https)/verifyReceipt"
            configuration.appStore.verifyReceiptSandbox = "\(store.https)/sandbox/verifyReceipt"
            configuration.appStore.tlsTrust = store.trustFile
            configuration.apps = ["game": app(mode)]
            change(&configuration, store)
            let (clock, connectionClock) = (LedgerClock(), ManualClock())
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            var timing = AppStoreTiming()
            timing.answersWithin = answersWithin
            timing.looksEvery = .milliseconds(20)
            var dependencies = ServerDependencies()
            dependencies.clock = { clock.now }
            dependencies.appStoreTiming = timing
            dependencies.connectionClock = connectionClock.connectionClock()
            let server = try await startPurchaseServer(configuration, dependencies, logger: logger)
            let ledger = server.ledger
            let key = try await ledger.perform(CreateAPIKey(app: "game", name: "backend", scopes: [.client, .backend]))
                .text
            try await server.application().live { client in
                let world = AppStoreClaimWorld(
                    store: store, ledger: ledger, client: client, clock: clock, connectionClock: connectionClock,
                    key: key)
                try await body(world)
                let findings = try await findingsAtRest { try await ledger.audit().findings }
                #expect(findings == [], "the audit found differences")
            }
        }
    }

    private static func app(_ mode: AppStoreMode) -> RegisteredApp {
        var app = RegisteredApp(id: "game", bundleIDs: [ConnectionWorld.app])
        app.products = [
            "coins": RegisteredProduct(kind: .consumable), "gold": RegisteredProduct(kind: .autoRenewable),
        ]
        app.sandboxAccess = .everyone
        app.mode = mode
        return app
    }

    struct Answer: Sendable {
        let status: Int
        let verdict: String?
        let code: String
        let disposition: String?
        let isReplayed: Bool
        let submission: UUID?
        let retryAfter: String?
    }

    /// Claims the purchase for which a receipt was issued.
    func claim(
        _ purchase: BoughtReceipt, by customer: String = "ada", product: String = "coins", order: UUID? = nil
    ) async throws -> Answer {
        var members = [
            "product_id": product, "transaction_id": purchase.transaction, "customer_id": customer,
            "receipt_data": purchase.receipt,
        ]
        members["order_id"] = order?.uuidString.lowercased()
        let body = try JSONSerialization.data(withJSONObject: members)
        let response = try await client.execute(
            uri: "/v1/purchases", method: .post,
            headers: [.authorization: "Bearer \(key)", .contentType: "application/json"], body: ByteBuffer(data: body))
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(buffer: response.body)) as? [String: Any])
        return Answer(
            status: response.status.code, verdict: object["verdict"] as? String, code: object["code"] as? String ?? "",
            disposition: object["disposition"] as? String, isReplayed: object["replayed"] as? Bool ?? false,
            submission: (object["submission_id"] as? String).flatMap { UUID(uuidString: $0) },
            retryAfter: response.headers[.retryAfter])
    }

    func get(_ path: String) async throws -> String {
        let response = try await client.execute(
            uri: path, method: .get, headers: [.authorization: "Bearer \(key)"])
        return String(buffer: response.body)
    }

    /// Waits until there are no more questions to ask, while time passes.
    ///
    /// - Parameter movesConnection: whether the time of the circuit passes, too: on a busy machine a call that began in
    ///   the outage can open it again after the outage.
    func settle(movesConnection: Bool = false) async throws {
        // The limit is on rounds without progress: on a busy machine a thousand answers take minutes.
        var (left, rounds) = (Int.max, 0)
        while rounds < 6000 {
            let waiting = try await ledger.answer(CountWork(.claim)).count
            if waiting == 0 { return }
            (left, rounds) = waiting < left ? (waiting, 0) : (left, rounds + 1)
            // A question in flight can have been postponed in the meantime.
            clock.advance(seconds: 1)
            if movesConnection { connectionClock.advance(.seconds(1)) }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("claims still wait")
    }

    /// The number of grants, from the ledger's own events.
    func granted() async throws -> Int {
        try await ledger.answer(EventList(app: "game", limit: 100_000)).count { $0.type == "granted" }
    }

    func balance(of customer: String = "ada") async throws -> Int64 {
        try await ledger.answer(EntitlementsOfCustomer(app: "game", customerID: customer, environment: nil, at: nil))
            .entitlements.first { $0.productID == "coins" }?.balance ?? 0
    }
}

/// A receipt, with the transaction that was bought last.
struct BoughtReceipt: Sendable {
    let transaction: String
    /// In base64.
    let receipt: String
}

extension ConnectionWorld {
    /// Buys a product.
    func buy(
        _ product: String = "coins", by customer: String = "ada", _ kind: String = "app_receipt"
    ) async throws -> BoughtReceipt {
        let answer = try await post(
            "purchases", ["bundle_id": Self.app, "product_id": product, "customer_id": customer])
        let evidence = try #require(answer["evidence"] as? [String: Any])
        let transaction = try #require(answer["transaction"] as? [String: Any], "\(answer.keys)")
        return BoughtReceipt(
            transaction: try #require(transaction["transaction_id"] as? String, "\(transaction)"),
            receipt: try #require(evidence[kind] as? String))
    }
}

/// The clock of a ledger, which a test moves.
final class LedgerClock: Sendable {
    private let time = Mutex(Int64(ConnectionWorld.start.timeIntervalSince1970 * 1000) + 60_000)

    var now: Timestamp { Timestamp(millisecondsSince1970: time.withLock { $0 }) }

    func advance(seconds: Int64) { time.withLock { $0 += seconds * 1000 } }
}

extension TrustAnchor {
    /// The certificates of a simulated store that a verifier must trust.
    static func certificates(of store: AppStoreAuthority) throws -> [TrustAnchor] {
        try [
            store.receipts.root, store.signedPayload.root, store.receipts.intermediate,
            store.transactionReceipts.storeIntermediate,
        ].map { try TrustAnchor(certificate: $0.certificate) }
    }
}
