import Foundation
import PurchaseLedger
import PurchaseServer

/// The API keys of `assay dev`: for each app, one for the app itself, one for its backend and one for operators. They
/// are kept in the folder, because the server stores only their hashes.
struct DevKeys: Sendable {
    /// The keys of an app.
    struct App: Sendable {
        let bundleIDs: Set<String>
        let clientKey: String
        let backendKeyFile: String
        let adminKey: String

        /// One of its bundle ids, always the same.
        var bundleID: String { bundleIDs.min() ?? "" }
    }

    let apps: [App]

    /// Reads the keys, and creates missing ones.
    init(_ settings: DevSettings, _ configuration: ServerConfiguration, _ ledger: PurchaseLedger) async throws {
        var apps: [App] = []
        for app in configuration.apps.values.sorted(by: { $0.id < $1.id }) {
            // Without a settings file the only app has the short names.
            let prefix = settings.config == nil ? "" : "\(Self.fileName(app.id))-"
            let backendKeyFile = settings.path("\(prefix)backend.key")
            _ = try await Self.key(backendKeyFile, "backend", .backend, app.id, ledger)
            let adminKey = try await Self.key(settings.path("\(prefix)admin.key"), "admin", .admin, app.id, ledger)
            let clientKey = try await Self.key(settings.path("\(prefix)client.key"), "client", .client, app.id, ledger)
            apps.append(
                App(
                    bundleIDs: app.bundleIDs, clientKey: clientKey, backendKeyFile: backendKeyFile,
                    adminKey: adminKey))
        }
        self.apps = apps
    }

    /// The keys of the apps, for the store's page.
    var clientKeysByBundleID: [String: String] {
        var keys: [String: String] = [:]
        for app in apps { for bundleID in app.bundleIDs { keys[bundleID] = app.clientKey } }
        return keys
    }

    /// The keys with which the store's page shows what the server says of a customer.
    var adminKeysByBundleID: [String: String] {
        var keys: [String: String] = [:]
        for app in apps { for bundleID in app.bundleIDs { keys[bundleID] = app.adminKey } }
        return keys
    }

    private static func key(
        _ path: String, _ name: String, _ scope: APIKeyScope, _ app: String, _ ledger: PurchaseLedger
    ) async throws -> String {
        if FileManager.default.fileExists(atPath: path) { return try SecretFile.secret(path) }
        let file = try SecretOutputFile(creating: path)
        let created = try await ledger.perform(CreateAPIKey(app: app, name: name, scopes: [scope]))
        try file.write("\(created.text)\n")
        return created.text
    }

    /// The name of an app as part of the name of a file: a name may have characters that a file name may not have.
    private static func fileName(_ app: String) -> String {
        app.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-_")))
            ?? "app"
    }
}
