package import AppStoreConnection
import PurchaseLedger
package import PurchaseVerification

/// The values that a reload of the settings replaces together.
struct AppStoreTerms: Sendable {
    var ledger: PurchaseLedger
    var verifier: PurchaseVerifier
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
        secrets = configuration.sharedSecrets.compactMapValues { SharedSecret($0) }
        secret = configuration.sharedSecret.flatMap { SharedSecret($0) }
        serverApps = AppStoreServerApp.all(configuration, verifier)
        bundleIDs = configuration.apps.filter { configuration.appStoreKeys[$0.key] != nil }
            .mapValues { $0.bundleIDs.sorted() }
        environments = configuration.apps.mapValues { app in
            [.production, .sandbox].filter { app.environments.contains(AppStoreEnvironment($0.rawValue)) }
        }
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
