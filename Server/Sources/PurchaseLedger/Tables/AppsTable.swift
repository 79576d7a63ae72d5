import PurchaseVerification

/// The apps of the settings, each with a permanent number.
struct AppsTable {
    let connection: any LedgerConnection

    /// All apps, including those that are no longer in the settings.
    func all() throws(LedgerStorageError) -> [(key: Int64, name: String)] {
        var apps: [(key: Int64, name: String)] = []
        for row in try connection.rows("SELECT app_key, name FROM apps ORDER BY app_key", [], of: ["apps"]) {
            var reader = row.reader
            apps.append((try reader.integer(), try reader.text()))
        }
        return apps
    }

    func insert(_ name: String) throws(LedgerStorageError) -> Int64 {
        let rows = try connection.changedRows("INSERT INTO apps (name) VALUES (?1) RETURNING app_key", [.text(name)])
        guard var reader = rows.first?.reader else {
            throw LedgerStorageError(.constraint, "no row was inserted into apps")
        }
        return try reader.integer()
    }

    /// Notes the entry that moved an app, or that it is here again.
    func setMoved(_ entry: Int64?, appKey: Int64) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE apps SET moved_entry = ?2 WHERE app_key = ?1", [.integer(appKey), .integer(entry)])
    }
}

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

/// An app of the settings. It is a class because every step of a write passes it on.
package final class RegistryApp: Sendable {
    let key: Int64
    let settings: RegisteredApp
    /// Where it moved; `nil` while it is here.
    let moved: MovedApp?

    init(key: Int64, settings: RegisteredApp, moved: MovedApp? = nil) {
        (self.key, self.settings, self.moved) = (key, settings, moved)
    }
}

/// The app of each bundle id. A bundle id never changes its app.
struct BundlesTable {
    let connection: any LedgerConnection

    func all() throws(LedgerStorageError) -> [(bundleID: String, appKey: Int64)] {
        var bundles: [(bundleID: String, appKey: Int64)] = []
        for row in try connection.rows("SELECT bundle_id, app_key FROM bundles ORDER BY bundle_id", [], of: ["bundles"])
        {
            var reader = row.reader
            bundles.append((try reader.text(), try reader.integer()))
        }
        return bundles
    }

    func insert(_ bundleID: String, appKey: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "bundles",
            "INSERT INTO bundles (bundle_id, app_key, entry_key) VALUES (?1, ?2, ?3)",
            [.text(bundleID), .integer(appKey), .integer(entry)])
    }
}

/// The environments by number: Apple's three, and others in the order in which they were first seen.
struct EnvironmentsTable {
    let connection: any LedgerConnection

    /// The number of one of Apple's environments.
    static func fixedKey(of environment: AppStoreEnvironment) -> Int64? {
        switch environment {
        case .production: 1
        case .sandbox: 2
        case .xcode: 3
        case .other: nil
        }
    }

    /// The number of an environment, if it was ever seen.
    func key(of environment: AppStoreEnvironment) throws(LedgerStorageError) -> Int64? {
        switch environment {
        case .production, .sandbox, .xcode: return Self.fixedKey(of: environment)
        case .other(let name):
            let rows = try connection.rows(
                "SELECT environment_key FROM environments WHERE name = ?1", [.text(name)], of: ["environments"])
            guard var reader = rows.first?.reader else { return nil }
            return try reader.integer()
        }
    }

    /// The number of an environment. A new environment gets the next one.
    func keyToWrite(of environment: AppStoreEnvironment) throws(LedgerStorageError) -> Int64 {
        if let key = try key(of: environment) { return key }
        let rows = try connection.changedRows(
            "INSERT INTO environments (name) VALUES (?1) RETURNING environment_key", [.text(environment.name)])
        guard var reader = rows.first?.reader else {
            throw LedgerStorageError(.constraint, "no row was inserted into environments")
        }
        return try reader.integer()
    }

    /// The number of an environment that may not be stated; 0 if it is not.
    func keyToWrite(ofStated environment: AppStoreEnvironment?) throws(LedgerStorageError) -> Int64 {
        guard let environment else { return 0 }
        return try keyToWrite(of: environment)
    }

    /// The environment of a number.
    func environment(_ key: Int64) throws(LedgerStorageError) -> AppStoreEnvironment {
        switch key {
        case 1: return .production
        case 2: return .sandbox
        case 3: return .xcode
        default:
            let rows = try connection.rows(
                "SELECT name FROM environments WHERE environment_key = ?1", [.integer(key)], of: ["environments"])
            guard var reader = rows.first?.reader else {
                throw LedgerStorageError(.corrupt, "there is no environment \(key)")
            }
            return AppStoreEnvironment(try reader.text())
        }
    }
}
