import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// The database and the settings file of a command.
struct LedgerDatabaseOptions: ParsableArguments {
    /// The settings file in the current folder that is read if none is named.
    static let defaultConfig = "assay.yaml"
    /// The variable that names the settings file.
    static let configVariable = "ASSAY_CONFIG"

    @Option(name: .long, help: ArgumentHelp(ServerSetting.database.help))
    var database: String?

    @Option(
        name: .long,
        help: """
            The settings file (assay.yaml in the current folder, if there is one). Also: ASSAY_CONFIG. Paths in it begin \
            in its own folder.
            """)
    var config: String?

    @Option(name: .long, help: ArgumentHelp(ServerSetting.entryKey.help))
    var entryKey: String?

    @Option(name: .long, help: "The folder of 'assay dev': its database, keys and certificates.")
    var folder: String?

    /// Reads the settings file, and returns the address of the database.
    ///
    /// - Parameter isTrustExtended: whether options name trusted certificates; `nil` for a command that verifies
    ///   nothing and so needs none of the files that the settings name.
    func place(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, isTrustExtended: Bool? = nil
    ) throws -> LedgerPlace {
        do {
            return try readPlace(environment, isTrustExtended: isTrustExtended)
        } catch let error as SettingsFile.Problems {
            for problem in error.problems { Terminal.complain("\(settingsPath(environment)): \(problem)") }
            throw ExitCode.unusable
        }
    }

    /// The path of the settings file, as given.
    func settingsPath(_ environment: [String: String]) -> String {
        config ?? environment[Self.configVariable] ?? Self.defaultConfig
    }

    /// The same options, with the settings file named that was read: without it, later reads fail, although it is the
    /// default.
    func naming(_ place: LedgerPlace) -> LedgerDatabaseOptions {
        var options = self
        options.config = place.name ?? config
        return options
    }

    /// Reads the settings file, and returns the address of the database.
    ///
    /// - Throws: `SettingsFile.Problems`, `InputError`.
    func readPlace(_ environment: [String: String], isTrustExtended: Bool?) throws -> LedgerPlace {
        // Variables, and the settings in the current folder, are of another server than that of 'assay dev'.
        try Self.place(
            config: config, database: database, entryKey: entryKey,
            folder.map { DevFolder.variables(of: $0) } ?? environment,
            isTrustExtended: isTrustExtended.map { $0 || folder != nil }, readsDefault: folder == nil)
    }

    /// Reads a settings file, and returns the address of the database.
    ///
    /// - Throws: `SettingsFile.Problems`, `InputError`.
    static func place(
        config: String?, database: String?, entryKey: String?, _ environment: [String: String], isTrustExtended: Bool?,
        readsDefault: Bool = true
    ) throws -> LedgerPlace {
        let path = config ?? environment[configVariable] ?? defaultConfig
        let isNamed = config != nil || environment[configVariable] != nil
        var file = try SettingsFile("")
        let isRead = isNamed || readsDefault && FileManager.default.fileExists(atPath: path)
        if isRead {
            file = try SettingsFile(try InputFile.read(path), beside: surroundings(of: path, isTrustExtended))
        }
        return LedgerPlace(
            file: file, path: isRead ? absolute(path) : nil, name: isRead ? path : nil, environment: environment,
            databaseOption: database.map { [$0] } ?? [], entryKeyOption: entryKey.map { [$0] } ?? [])
    }

    private static func surroundings(of path: String, _ isTrustExtended: Bool?) -> SettingsFile.Surroundings {
        var surroundings = SettingsFile.Surroundings()
        surroundings.folder = (absolute(path) as NSString).deletingLastPathComponent
        surroundings.isTrustExtended = isTrustExtended ?? true
        surroundings.files = isTrustExtended == nil ? nil : .read
        return surroundings
    }

    /// A path from the root, without `..`.
    static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    /// Opens the ledger for an operator's command, under the settings that the latest start of the server recorded.
    ///
    /// Refusals of the ledger end with status 1, errors of the database with 2.
    ///
    /// - Parameters:
    ///   - access: whether the command writes; if so, the key of entries is read or created, and the new entries are
    ///     sealed.
    ///   - creating: whether a missing database is created and migrated.
    ///   - trust: the certificates that evidence is verified with, for commands that verify any.
    ///   - body: the command's work.
    func withLedger(
        _ access: LedgerAccess = .writing, creating: Bool = false, trust: LedgerTrustOption? = nil,
        _ body: (PurchaseLedger) async throws -> Void
    ) async throws {
        let anchors = try trust?.anchors(self) ?? TrustAnchor.apple
        let keys = try place().recordKeys()
        try await withDatabase(migrating: creating, creating: creating) { database in
            let entryKey: EntryKey? =
                switch access {
                case .reading: nil
                case .auditing: try keys.entryKeyIfAny()
                case .writing: try await keys.entryKey(of: database)
                }
            let ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: PurchaseVerifier(anchors: anchors), entryKey: entryKey
            ) { Timestamp(Date()) }
            try await body(ledger)
            guard access == .writing else { return }
            // A running server signs the entries; without one, they would wait for the next start.
            try await LogSealing(ledger: ledger, signer: nil).round()
        }
    }

    /// The access of a command to a ledger.
    enum LedgerAccess {
        case reading
        /// It reads, and checks the codes of entries if their key is there.
        case auditing
        case writing
    }

    /// Opens the database for the body, and closes it afterwards. Errors become one line on standard error.
    ///
    /// - Parameters:
    ///   - migrating: whether missing migrations are run first.
    ///   - creating: whether a missing database is created. A command about an existing one must not create another
    ///     because a
    ///     path was mistyped.
    func withDatabase(
        migrating: Bool = true, creating: Bool = false, _ body: (any LedgerDatabase) async throws -> Void
    ) async throws {
        let database = try place().open(isCreating: creating)
        do {
            if migrating { try await LedgerMigrations.migrate(database, now: .now) }
            try await body(database)
        } catch let error as LedgerStorageError {
            try await database.close()
            Terminal.complain("\(error)")
            throw ExitCode.unusable
        } catch let error as LogError {
            try await database.close()
            Terminal.complain("\(error)")
            throw error.status
        } catch let refusal as LedgerRefusal {
            try await database.close()
            Terminal.complain(refusal.line)
            throw ExitCode.rejected
        } catch {
            try await database.close()
            throw error
        }
        try await database.close()
    }
}

/// What a folder of `assay dev` has, by the settings that name it.
enum DevFolder {
    static func places(in folder: URL) -> [(ServerSetting, String)] {
        let files: [(ServerSetting, String)] = [
            (.trust, "authority/\(AppStoreAuthority.trustFile)"), (.answerKey, "answers.key"),
            (.entryKey, "entries.key"), (.signingKey, "log.key"),
        ]
        return [(.database, "sqlite:\(folder.appending(path: "assay.sqlite").path)")]
            + files.map { ($0, folder.appending(path: $1).path) }
    }

    /// The same as variables.
    static func variables(of folder: String) -> [String: String] {
        let places = places(in: URL(fileURLWithPath: folder, isDirectory: true))
        return Dictionary(
            uniqueKeysWithValues: places.compactMap { setting, text in setting.variable.map { ($0, text) } })
    }
}

extension LogError {
    /// The exit status of a command that this error stops.
    var status: ExitCode {
        switch code {
        case .notSealed, .entryUnknown, .notInterrupted, .proofInvalid, .signatureInvalid, .rewritten, .shorter:
            .rejected
        default: .unusable
        }
    }
}

extension Int64 {
    /// Milliseconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}

/// The certificates with which a command verifies evidence again.
struct LedgerTrustOption: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp(ServerSetting.trust.help))
    var trust: [String] = []

    /// Apple's roots and the certificates of the option, the environment or the settings file, as the server takes
    /// them.
    func anchors(_ options: LedgerDatabaseOptions) throws -> [TrustAnchor] {
        let place = try options.place(isTrustExtended: true)
        let given = ServerSetting.trust.option.map { [$0: trust] } ?? [:]
        return try place.configuration(options: given).anchors
    }
}
