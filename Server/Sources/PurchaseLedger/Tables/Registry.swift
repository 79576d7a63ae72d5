import PurchaseVerification

/// The apps of the settings with their keys in the database, as recorded at a start.
struct Registry: Sendable {
    let apps: [RegistryApp]

    init(apps: [RegistryApp]) { self.apps = apps }

    func app(_ name: String) -> RegistryApp? { apps.first { ExactText($0.settings.id) == ExactText(name) } }
    func app(key: Int64) -> RegistryApp? { apps.first { $0.key == key } }
    func app(bundleID: ExactText) -> RegistryApp? {
        apps.first { $0.settings.bundleIDs.contains { ExactText($0) == bundleID } }
    }
}
