package import AppStoreConnection
import PurchaseLedger
package import PurchaseVerification
import Synchronization

/// The App Store Server API, with the settings in force.
final class AppStoreAccess: Sendable {
    let server: any AppStoreServer
    private let inForce: Mutex<AppStoreTerms>

    init(_ server: any AppStoreServer, _ terms: AppStoreTerms) {
        self.server = server
        inForce = Mutex(terms)
    }

    var terms: AppStoreTerms { inForce.withLock { $0 } }

    func replace(by terms: AppStoreTerms) { inForce.withLock { $0 = terms } }
}

/// The values that a reload of the settings replaces together.
struct AppStoreTerms: Sendable {
    var ledger: PurchaseLedger
    var verifier: PurchaseVerifier
    var apps: [String: RegisteredApp]
    /// The keys of the App Store Server API by the names of the apps, the preferred one first.
    var keys: [String: [AppStoreServerKey]]
    /// The shared secrets by bundle id.
    var secrets: [String: SharedSecret]
    var secret: SharedSecret?
    /// The apps with keys of the App Store Server API, by bundle id.
    var serverApps: [String: AppStoreServerApp]
    /// The bundle ids of the apps with keys, by the names of the apps.
    var bundleIDs: [String: [String]]
    /// The environments of each app that have an App Store Server API.
    var environments: [String: [ValidationEnvironment]]

    init(_ ledger: PurchaseLedger, _ configuration: ServerConfiguration) {
        self.ledger = ledger
        verifier = PurchaseVerifier(anchors: configuration.anchors)
        (apps, keys) = (configuration.apps, configuration.appStoreKeys)
        secrets = configuration.sharedSecrets.compactMapValues { SharedSecret($0) }
        secret = configuration.sharedSecret.flatMap { SharedSecret($0) }
        serverApps = AppStoreServerApp.all(configuration, verifier)
        bundleIDs = configuration.apps.filter { configuration.appStoreKeys[$0.key] != nil }
            .mapValues { $0.bundleIDs.sorted() }
        environments = configuration.apps.mapValues { app in
            [.production, .sandbox].filter { app.environments.contains(AppStoreEnvironment($0.rawValue)) }
        }
    }

    /// The apps that have keys.
    var names: [String] { keys.filter { !$0.value.isEmpty }.keys.sorted() }

    /// An app for a call; `nil` if it has no key, or more than one bundle id and none is named.
    func app(_ name: String, bundleID: String?) -> AppStoreServerApp? {
        guard keys[name]?.isEmpty == false else { return nil }
        return self.bundleID(of: name, bundleID).flatMap { serverApps[$0] }
    }

    /// The signer of an app's offers; `nil` as above.
    func signer(_ name: String, bundleID: String?) -> OfferSigner? {
        guard let key = keys[name]?.first, let bundleID = self.bundleID(of: name, bundleID) else { return nil }
        return OfferSigner(key: key, bundleID: bundleID)
    }

    /// The named bundle id, if it is the app's; without a name, its only one.
    private func bundleID(of name: String, _ bundleID: String?) -> String? {
        guard let known = apps[name]?.bundleIDs else { return nil }
        guard let bundleID else { return known.count == 1 ? known.first : nil }
        return known.first { $0.isSame(as: bundleID) }
    }
}

extension AppStoreServerApp {
    /// The apps with keys, by bundle id.
    package static func all(
        _ configuration: ServerConfiguration, _ verifier: PurchaseVerifier
    ) -> [String: AppStoreServerApp] {
        var apps: [String: AppStoreServerApp] = [:]
        for (name, keys) in configuration.appStoreKeys {
            for bundleID in configuration.apps[name]?.bundleIDs ?? [] {
                apps[bundleID] = AppStoreServerApp(name, bundleID: bundleID, keys: keys, verifier: verifier)
            }
        }
        return apps
    }
}

extension ValidationEnvironment {
    /// The environment of the ledger's purchases; `nil` for one without an App Store Server API.
    package init?(_ environment: AppStoreEnvironment) {
        switch environment {
        case .production: self = .production
        case .sandbox: self = .sandbox
        case .xcode, .other: return nil
        }
    }
}

/// The App Store Server API. The operation is the name of its type, so it is one of this version's.
struct MeasuredAppStoreServer: AppStoreServer {
    let server: any AppStoreServer
    let metrics: ServerMetrics

    func call<Operation: AppStoreServerOperation>(
        _ operation: Operation, for app: AppStoreServerApp, in environment: ValidationEnvironment?
    ) async throws(AppStoreServerError) -> AppStoreServerAnswer<Operation.Answer> {
        let start = ContinuousClock.now
        let name = operation.terms.name
        do throws(AppStoreServerError) {
            let answer = try await server.call(operation, for: app, in: environment)
            metrics.noteCall(name, result: "answered", .now - start)
            return answer
        } catch {
            metrics.noteCall(name, result: error.code.rawValue, .now - start)
            throw error
        }
    }

    func circuit(of environment: ValidationEnvironment) -> CircuitState { server.circuit(of: environment) }

    func spacing<Operation: AppStoreServerOperation>(
        of operation: Operation.Type, in environment: ValidationEnvironment
    ) -> Duration {
        server.spacing(of: operation, in: environment)
    }
}

/// `verifyReceipt`.
struct MeasuredReceiptValidation: ReceiptValidation {
    let client: any ReceiptValidation
    let metrics: ServerMetrics

    func validate(_ request: ReceiptValidationRequest) async -> ReceiptValidationOutcome {
        let start = ContinuousClock.now
        let outcome = await client.validate(request)
        let result =
            switch outcome {
            case .conclusive: "answered"
            case .undetermined(let undetermined): undetermined.code.rawValue
            }
        metrics.noteCall("verifyReceipt", result: result, .now - start)
        return outcome
    }

    func circuit(of environment: ValidationEnvironment) -> CircuitState { client.circuit(of: environment) }
}
