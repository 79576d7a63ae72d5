import AppStoreConnection
import Foundation
import PurchaseVerification
import Testing

/// The App Store Server API of a simulated store, and a client of it over HTTPS.
struct SimulatedServerAPI: Sendable {
    let store: ConnectionWorld
    let client: AppStoreServerClient
    let app: AppStoreServerApp
    let clock: ManualClock
    /// The time of the store.
    let time: LedgerClock

    /// Runs the body with a client whose key the store has made.
    static func run(
        limits: AttemptLimits = .patient,
        _ body: @escaping @Sendable (SimulatedServerAPI) async throws -> Void
    ) async throws {
        try await ConnectionWorld.run { store in
            let key = try await store.makeAPIKey()
            var settings = try AppStoreServerSettings(
                production: store.https, sandbox: "\(store.https)/sandbox", trustFile: store.trustFile)
            settings.limitFactor = 1000
            try await store.post("server-api/limits", ["factor": 1000])
            let (clock, time) = (ManualClock(), LedgerClock())
            let client = try AppStoreServerClient(
                settings, limits: limits, clock: clock.connectionClock(), storeTime: { time.now })
            let verifier = PurchaseVerifier(anchors: try TrustAnchor.certificates(of: ConnectionWorld.authority.get()))
            let app = AppStoreServerApp(
                "game", bundleID: ConnectionWorld.app, keys: [key], verifier: verifier)
            do {
                try await body(
                    SimulatedServerAPI(store: store, client: client, app: app, clock: clock, time: time))
            } catch {
                try await client.shutdown()
                throw error
            }
            try await client.shutdown()
        }
    }

    /// The code of the error of a call, or `answered`.
    func code<Operation: AppStoreServerOperation>(
        of operation: Operation, in environment: ValidationEnvironment? = nil
    ) async -> String {
        do throws(AppStoreServerError) {
            _ = try await client.call(operation, for: app, in: environment)
            return "answered"
        } catch {
            return error.code.rawValue + (error.number.map { " \($0.rawValue)" } ?? "")
        }
    }
}

extension ConnectionWorld {
    func makeAPIKey() async throws -> AppStoreServerKey {
        let made = try await post("api-keys", [:])
        return try AppStoreServerKey(
            issuerID: try #require(made["issuer_id"] as? String, "\(made)"),
            keyID: try #require(made["key_id"] as? String, "\(made)"),
            privateKey: try #require(made["private_key"] as? String, "\(made)"))
    }
}
