import PurchaseVerification

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
