import AppStoreConnection
import EvidenceMint
import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import Synchronization
import Testing

/// A purchase server whose app has a key of the App Store Server API, and a store that a test answers for.
struct ServerAPIClaimWorld: Sendable {
    let store: RecordingServer
    /// The port of the store.
    let port: Int
    let ledger: PurchaseLedger
    let client: LiveClient
    let clock: LedgerClock
    let connectionClock: ManualClock
    let key: String

    /// Runs the body with a server.
    static func run(
        _ mode: AppStoreMode = .offline, setsTokens: Bool = false, answersWithin: Duration = .seconds(300),
        dropIn: DropInSettings? = nil, uptime: (@Sendable () -> Double)? = nil,
        clock: LedgerClock = LedgerClock(), answer: @escaping ServerAPIWorld.Answer,
        _ body: @escaping @Sendable (ServerAPIClaimWorld) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await RecordingServer.run(answer: { request in
            do {
                return try await answer(request)
            } catch {
                Issue.record("\(error)")
                return RecordingServer.Reply(status: .internalServerError)
            }
        }) { store, port in
            var configuration = try configuration(mode, setsTokens, port, folder)
            if let dropIn { configuration.dropIn = [ServerAPIWorld.bundleID: dropIn] }
            let connectionClock = ManualClock()
            var timing = AppStoreTiming()
            timing.answersWithin = answersWithin
            timing.looksEvery = .milliseconds(20)
            var dependencies = ServerDependencies()
            dependencies.clock = { clock.now }
            if let uptime { dependencies.uptime = uptime }
            dependencies.appStoreTiming = timing
            dependencies.connectionClock = connectionClock.connectionClock()
            let server = try await startPurchaseServer(
                configuration, dependencies, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let ledger = server.ledger
            let key = try await ledger.perform(
                CreateAPIKey(app: "game", name: "backend", scopes: Set(APIKeyScope.allCases))
            ).text
            try await server.application().live { client in
                let world = ServerAPIClaimWorld(
                    store: store, port: port, ledger: ledger, client: client, clock: clock,
                    connectionClock: connectionClock, key: key)
                try await body(world)
                let findings = try await findingsAtRest { try await ledger.audit().findings }
                #expect(findings == [], "the audit found differences")
            }
        }
    }

    private static func configuration(
        _ mode: AppStoreMode, _ setsTokens: Bool, _ port: Int, _ folder: URL
    ) throws -> ServerConfiguration {
        var app = RegisteredApp(id: "game", bundleIDs: [ServerAPIWorld.bundleID])
        app.products = ["gold": RegisteredProduct(kind: .autoRenewable)]
        (app.mode, app.hasAppStoreKey, app.setsAccountTokens) = (mode, true, setsTokens)
        app.environments = [.production]
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.database = "sqlite:\(folder.appendingPathComponent("assay.sqlite").path)"
        configuration.record.folder = folder.path
        configuration.anchors = try TrustAnchor.certificates(of: ConnectionWorld.authority.get())
        configuration.apps = ["game": app]
        configuration.appStoreKeys = ["game": [try TestKey().key()]]
        configuration.appStore.serverAPIProduction = "http://127.0.0.1:\(port)/p"
        configuration.appStore.serverAPISandbox = "http://127.0.0.1:\(port)/s"
        configuration.appStore.serverAPILimitPercent = 100_000
        return configuration
    }

    /// The requests of a kind, such as `GET /p/inApps/v1/transactions/`.
    func requests(_ prefix: String) -> [RecordingServer.Request] {
        store.requests.filter { "\($0.head.method.rawValue) \($0.head.uri)".hasPrefix(prefix) }
    }

    /// Claims a transaction.
    ///
    /// - Returns: the HTTP status and the code.
    func claim(
        _ signedTransaction: String, _ id: String = "2000000000000001", by customer: String = "ada"
    ) async throws -> (status: Int, code: String) {
        let body = try JSONSerialization.data(withJSONObject: [
            "product_id": "gold", "transaction_id": id, "customer_id": customer,
            "signed_transaction": signedTransaction,
        ])
        let response = try await client.execute(
            uri: "/v1/purchases", method: .post,
            headers: [.authorization: "Bearer \(key)", .contentType: "application/json"], body: ByteBuffer(data: body))
        let object = try JSONSerialization.jsonObject(with: Data(buffer: response.body)) as? [String: Any]
        return (response.status.code, object?["code"] as? String ?? "")
    }

    func get(_ path: String) async throws -> (status: Int, body: String) {
        let response = try await client.execute(
            uri: path, method: .get, headers: [.authorization: "Bearer \(key)"])
        return (response.status.code, String(buffer: response.body))
    }

    /// The state of the customer's subscription.
    func state(of customer: String = "ada") async throws -> String? {
        try await ledger.answer(EntitlementsOfCustomer(app: "game", customerID: customer, environment: nil, at: nil))
            .entitlements.first { $0.productID == "gold" }.map { "\($0.state)" }
    }

    /// Waits until something is true.
    func wait(_ words: Comment, until isTrue: @Sendable () async throws -> Bool) async throws {
        for _ in 0..<30_000 {
            if try await isTrue() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record(words)
    }

    /// Where work stands.
    func task(
        _ kind: WorkKind, _ subject: String
    ) async throws -> WorkState.State? {
        try await ledger.answer(WorkState(kind, app: "game", environment: .production, subject: subject))
    }
}
