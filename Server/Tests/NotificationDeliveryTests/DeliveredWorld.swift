import AppStoreSimulator
import EvidenceMint
import Foundation
import HTTPTypes
import Logging
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// A simulated store that sends its notifications to a purchase server, both over real HTTP, on the store's clock.
struct DeliveredWorld: Sendable {
    static let bundleID = "com.example.app"

    let store: LiveClient
    let server: LiveClient
    let ledger: PurchaseLedger
    let backendKey: String

    var serverAddress: String { "http://127.0.0.1:\(server.port)" }
    var storeAddress: String { "http://127.0.0.1:\(store.port)" }

    /// Runs the body, and audits the ledger afterwards.
    ///
    /// - Parameter change: changes the server's settings, when the store is there.
    static func run(
        _ change: @escaping @Sendable (inout ServerConfiguration, LiveClient) async throws -> Void = { _, _ in },
        _ body: @escaping @Sendable (DeliveredWorld) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let (time, target) = (SimulatorTime(), EvidenceTarget(takesNotifications: true))
        var settings = SimulatorConfiguration()
        settings.port = 0
        settings.clock = try Date("2026-01-31T12:00:00Z", strategy: .iso8601)
        settings.firstTransaction = 1
        settings.time = time
        settings.target = target
        let store = try simulatorServer(settings, authority: try MintedWorld.store(), logger: silent)
        var settled = ServerConfiguration()
        settled.port = 0
        settled.anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        settled.apps = ["example": app]
        settled.database = "sqlite:\(folder.appending(path: "assay.sqlite").path)"
        settled.record.folder = folder.path
        var dependencies = ServerDependencies()
        dependencies.clock = { Timestamp(time.now) }
        // A faster clock, because unoptimised verification would use up the tenth of a core that unknown certificates
        // get.
        dependencies.uptime = { ProcessInfo.processInfo.systemUptime * 1000 }
        let (usual, surroundings) = (settled, dependencies)
        try await store.live { store async throws in
            var configuration = usual
            try await change(&configuration, store)
            let started = try await startPurchaseServer(configuration, surroundings, logger: silent)
            let ledger = started.ledger
            let key = try await ledger.perform(CreateAPIKey(app: "example", name: "b", scopes: [.backend])).text
            try await started.application().live { server async throws in
                try target.set("http://127.0.0.1:\(server.port)", key: nil)
                try await body(DeliveredWorld(store: store, server: server, ledger: ledger, backendKey: key))
                let findings = try await findingsAtRest { try await ledger.audit().findings }
                #expect(findings == [], "the audit found differences")
            }
        }
    }

    private static let app: RegisteredApp = {
        var app = RegisteredApp(id: "example", bundleIDs: [bundleID])
        for name in ["gold", "silver", "bronze", "team"] {
            app.products[name] = RegisteredProduct(kind: .autoRenewable, entitlements: ["member"])
        }
        app.products["coins"] = RegisteredProduct(kind: .consumable)
        app.sandboxAccess = .everyone
        return app
    }()

    /// The notifications of the store, oldest first.
    func sent() async throws -> [[String: Any]] {
        var notifications: [[String: Any]] = []
        while true {
            let answer = try await store.execute(
                uri: "/control/lists/notifications?limit=100&offset=\(notifications.count)", method: .get)
            let page = try #require(
                try JSONSerialization.jsonObject(with: Data(answer.body.readableBytesView)) as? [String: Any])
            let items = try #require(page["items"] as? [[String: Any]], "\(String(buffer: answer.body))")
            guard !items.isEmpty else { return notifications.reversed() }
            notifications += items
        }
    }

    /// What `GET /v1/notifications` lists, oldest first.
    func received() async throws -> [NotificationMessage] {
        var notifications: [NotificationMessage] = []
        var cursor = ""
        while true {
            let answer = try await server.execute(
                uri: "/v1/notifications?limit=100\(cursor)", method: .get,
                headers: [.authorization: "Bearer \(backendKey)"])
            try #require(answer.status == .ok, "\(String(buffer: answer.body))")
            let page = try JSONDecoder().decode(NotificationPage.self, from: Data(answer.body.readableBytesView))
            notifications += page.notifications
            guard let next = page.nextCursor else { return notifications.reversed() }
            cursor = "&cursor=\(next)"
        }
    }
}
