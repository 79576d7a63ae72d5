import AppStoreConnection
import PurchaseLedger
import PurchaseVerification
import Synchronization

/// The App Store Server API with the apps that have keys of it, as the settings in force say.
final class AppStoreAccess: Sendable {
    /// The values that a reload of the settings replaces together.
    struct Terms: Sendable {
        var ledger: PurchaseLedger
        var verifier: PurchaseVerifier
        var apps: [String: RegisteredApp]
        /// The keys by the names of the apps, the preferred one first.
        var keys: [String: [AppStoreServerKey]]

        init(_ ledger: PurchaseLedger, _ configuration: ServerConfiguration) {
            self.ledger = ledger
            verifier = PurchaseVerifier(anchors: configuration.anchors)
            apps = configuration.apps
            keys = configuration.appStoreKeys
        }

        /// The apps that have keys.
        var names: [String] { keys.filter { !$0.value.isEmpty }.keys.sorted() }

        /// An app for a call; `nil` if it has no key, or more than one bundle id and none is named.
        func app(_ name: String, bundleID: String?) -> AppStoreServerApp? {
            guard let keys = keys[name], !keys.isEmpty, let bundleID = self.bundleID(of: name, bundleID) else {
                return nil
            }
            return AppStoreServerApp(name, bundleID: bundleID, keys: keys, verifier: verifier)
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

    let server: any AppStoreServer
    private let inForce: Mutex<Terms>

    init(_ server: any AppStoreServer, _ terms: Terms) {
        self.server = server
        inForce = Mutex(terms)
    }

    var terms: Terms { inForce.withLock { $0 } }

    func replace(by terms: Terms) { inForce.withLock { $0 = terms } }
}
