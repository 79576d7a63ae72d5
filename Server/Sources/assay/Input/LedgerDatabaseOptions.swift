import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import Synchronization

/// The database and the settings file of a command.
struct LedgerDatabaseOptions: ParsableArguments {
    /// The settings file in the current folder that is read if none is named.
    static let defaultConfig = "assay.yaml"
    /// The variable that names the settings file.
    static let configVariable = "ASSAY_CONFIG"

    @Option(help: ArgumentHelp(ServerSetting.database.help)) var database: String?

    @Option(
        name: .long,
        help: """
            The settings file (assay.yaml in the current folder, if there is one). Also: ASSAY_CONFIG. Paths in it begin \
            in its own folder.
            """)
    var config: String?

    @Option(help: ArgumentHelp(ServerSetting.entryKey.help)) var entryKey: String?
    @Option(help: "The folder of 'assay dev': its database, keys and certificates.") var folder: String?
    @Flag(help: "Use a database that speaks PostgreSQL's protocol and is another engine; nothing is promised there.")
    var unsupportedEngine = false

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

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - options: the values of other options that give settings.
    ///   - files: the reader of the files that settings name; `nil` for a command that neither verifies nor answers.
    /// - Throws: `SettingProblems`, `InputError`.
    func place(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, options: [String: [String]] = [:],
        files: NamedFiles? = nil
    ) throws -> LedgerPlace {
        let own = ["--database": database, "--entry-key": entryKey].compactMapValues { $0.map { [$0] } }
        let given = options.filter { !$0.value.isEmpty }.merging(own) { $1 }
        var place = try place(environment, given, files)
        if unsupportedEngine {
            place.configuration.database = LedgerDatabases.allowingAnyEngine(place.configuration.database)
        }
        return place
    }

    private func place(
        _ environment: [String: String], _ given: [String: [String]], _ files: NamedFiles?
    ) throws -> LedgerPlace {
        guard let folder else { return try Self.place(config: config, environment, options: given, files: files) }
        // Variables, and the settings in the current folder, are of another server than that of 'assay dev'.
        let places = DevFolder.options(in: URL(fileURLWithPath: folder, isDirectory: true))
        return try Self.place(
            config: config, [:], options: places.merging(given) { $1 }, files: files, readsDefault: false)
    }

    /// Reads the settings.
    ///
    /// - Throws: `SettingProblems`, which name the file, and `InputError`.
    static func place(
        config: String?, _ environment: [String: String], options: [String: [String]], files: NamedFiles?,
        readsDefault: Bool = true
    ) throws -> LedgerPlace {
        let named = config ?? environment[configVariable]
        let name = named ?? defaultConfig
        let isRead = named != nil || readsDefault && FileManager.default.fileExists(atPath: name)
        let (path, bytes) = (isRead ? absolute(name) : nil, isRead ? try InputFile.read(name) : [])
        let folder = path.map { ($0 as NSString).deletingLastPathComponent }
        do {
            let settings = try ServerSettings(
                file: bytes, folder: folder, environment: environment, options: options, files: files)
            warn(settings.warnings)
            var configuration = settings.configuration
            // A device, such as /dev/null, has no folder for keys.
            if let path, let folder,
                (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType == .typeRegular
            {
                configuration.record.folder = folder
            }
            return LedgerPlace(
                configuration: configuration, warnings: settings.warnings, path: path, name: isRead ? name : nil)
        } catch {
            warn(error.warnings)
            throw error.found(in: name)
        }
    }

    private static let warned = Mutex<Set<String>>([])

    /// Prints each warning once, however often the settings are read.
    private static func warn(_ warnings: [SettingProblem]) {
        for text in warnings.map({ "\($0)" }) where warned.withLock({ $0.insert(text).inserted }) {
            Terminal.remark(text)
        }
    }

    /// A path from the root, without `..`.
    static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    /// Opens the ledger for an operator's command, under the settings that the latest start of the server recorded.
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
        let keys = try place().recordKeys
        try await withDatabase(creating: creating) { database in
            if creating { try await LedgerMigrations.migrate(database, now: .now) }
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

    /// Opens the database for the body, and closes it afterwards.
    ///
    /// - Parameter creating: whether a missing database is created. A command about an existing one must not create
    ///   another because a path was mistyped.
    func withDatabase(creating: Bool = false, _ body: (any LedgerDatabase) async throws -> Void) async throws {
        try await place().open(isCreating: creating).use(body)
    }
}

extension LedgerDatabase {
    /// Closes the database after its use.
    func use(_ body: (any LedgerDatabase) async throws -> Void) async throws {
        do {
            try await body(self)
        } catch {
            try await close()
            throw error
        }
        try await close()
    }
}

/// What a folder of `assay dev` has, as the options that name it.
enum DevFolder {
    static func options(in folder: URL) -> [String: [String]] {
        [
            "--database": "sqlite:\(folder.appending(path: "assay.sqlite").path)",
            "--trust": folder.appending(path: "authority/\(AppStoreAuthority.trustFile)").path,
            "--answer-key": folder.appending(path: "answers.key").path,
            "--entry-key": folder.appending(path: "entries.key").path,
            "--signing-key": folder.appending(path: "log.key").path,
        ].mapValues { [$0] }
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
    @Option(help: ArgumentHelp(ServerSetting.trust.help)) var trust: [String] = []

    /// Apple's roots and the certificates of the option, the environment or the settings file, as the server takes
    /// them.
    func anchors(_ options: LedgerDatabaseOptions) throws -> [TrustAnchor] {
        try options.place(options: ["--trust": trust], files: .read).configuration.anchors
    }
}
