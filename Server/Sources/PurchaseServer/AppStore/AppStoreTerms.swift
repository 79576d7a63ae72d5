import AppStoreConnection
import PurchaseLedger
import PurchaseVerification

/// The values that a reload of the settings replaces together.
struct AppStoreTerms: Sendable {
    var ledger: PurchaseLedger
    var verifier: PurchaseVerifier
    /// The shared secrets by bundle id.
    var secrets: [String: SharedSecret]
    var secret: SharedSecret?

    init(_ ledger: PurchaseLedger, _ configuration: ServerConfiguration) {
        self.ledger = ledger
        verifier = PurchaseVerifier(anchors: configuration.anchors)
        secrets = configuration.sharedSecrets.compactMapValues { SharedSecret($0) }
        secret = configuration.sharedSecret.flatMap { SharedSecret($0) }
    }
}
