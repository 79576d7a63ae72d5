import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer

/// Where the settings and the database are: options first, then the environment, then the file, then the current folder.
struct LedgerDatabaseOptions: ParsableArguments {
    /// What stands in the current folder.
    static let defaultConfig = "assay.yaml"
    static let defaultDatabase = "sqlite:assay.sqlite"

    @Option(
        name: .long, help: "The database, as sqlite:PATH (sqlite:assay.sqlite). In the environment: ASSAY_DATABASE.")
    var database: String?

    @Option(name: .long, help: "The settings file (assay.yaml, where it is there). In the environment: ASSAY_CONFIG.")
    var config: String?

    /// The settings of the file; those of an empty one where none is named and none is there.
    ///
    /// - Parameter isTrustExtended: whether options name whom to trust; `nil` where nobody asks, because nothing is verified.
    func settings(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, isTrustExtended: Bool? = nil
    ) throws -> SettingsFile {
        let named = config ?? environment["ASSAY_CONFIG"]
        guard named != nil || FileManager.default.fileExists(atPath: Self.defaultConfig) else {
            return try SettingsFile("")
        }
        let path = named ?? Self.defaultConfig
        do {
            return try SettingsFile(
                String(decoding: try InputFile.read(path), as: UTF8.self), beside: surroundings(isTrustExtended))
        } catch let error as SettingsFile.Problems {
            for problem in error.problems { Terminal.complain("\(path): \(problem)") }
            throw ExitCode.unusable
        }
    }

    /// The server looks at the files that the settings name; whoever only opens the database need not read secrets.
    private func surroundings(_ isTrustExtended: Bool?) -> SettingsFile.Surroundings {
        var surroundings = SettingsFile.Surroundings()
        surroundings.isTrustExtended = isTrustExtended ?? true
        guard isTrustExtended != nil else { return surroundings }
        surroundings.fault = { path, use in
            do {
                switch use {
                case .trust: _ = try TrustFile.namedAnchors(path)
                case .sharedSecret: _ = try SecretFile.secret(path)
                }
                return nil
            } catch let error as InputError {
                return error.reason
            } catch {
                return "\(error)"
            }
        }
        return surroundings
    }

    /// Opens the database.
    ///
    /// - Parameter isCreating: whether it is made where there is none. Whoever asks about what is there does not want a new one
    ///   because a path was mistyped.
    func open(
        _ settings: SettingsFile, _ environment: [String: String] = ProcessInfo.processInfo.environment,
        isCreating: Bool = true
    ) throws -> any LedgerDatabase {
        let url = database ?? environment["ASSAY_DATABASE"] ?? settings.database ?? Self.defaultDatabase
        guard url.hasPrefix("sqlite:"), !["sqlite:", "sqlite::memory:"].contains(url) else {
            throw ValidationError("'\(url)' is no database: write sqlite:PATH.")
        }
        let path = String(url.dropFirst("sqlite:".count))
        guard isCreating || FileManager.default.fileExists(atPath: path) else {
            throw InputError(path, "there is no such database")
        }
        do {
            return try SQLiteDatabase(path: path)
        } catch {
            throw InputError(url, "\(error)")
        }
    }

    /// Opens the database for the body, and closes it afterwards. Its troubles are I/O, in words.
    func withDatabase(
        migrating: Bool = true, creating: Bool = false, _ body: (any LedgerDatabase) async throws -> Void
    ) async throws {
        let database = try open(try settings(), isCreating: creating)
        do {
            if migrating { try await LedgerMigrations.migrate(database, now: .now) }
            try await body(database)
        } catch let error as LedgerStorageError {
            try await database.close()
            Terminal.complain("\(error)")
            throw ExitCode.unusable
        } catch {
            try await database.close()
            throw error
        }
        try await database.close()
    }
}

extension Int64 {
    /// Milliseconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}
