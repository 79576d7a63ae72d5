import PurchaseVerification

/// An app of the settings.
package struct RegistryApp: Sendable {
    let key: Int64
    let settings: RegisteredApp
}
