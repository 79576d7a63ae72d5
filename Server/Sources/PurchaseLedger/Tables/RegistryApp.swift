import PurchaseVerification

/// An app of the settings. It is a class because every step of a write passes it on.
package final class RegistryApp: Sendable {
    let key: Int64
    let settings: RegisteredApp

    init(key: Int64, settings: RegisteredApp) { (self.key, self.settings) = (key, settings) }
}
