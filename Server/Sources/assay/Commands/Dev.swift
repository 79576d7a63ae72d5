import AppStoreSimulator
import ArgumentParser
import EvidenceMint
import Foundation
import Hummingbird
import Logging
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// `assay dev`: everything that an app developer needs, in one process with one clock.
struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a simulated App Store and a purchase server together, with keys and one clock.",
        discussion: """
            It prints the values to put into the app. Keys and databases are in the folder, so a second start continues where the \
            first one ended. The server follows the store's clock: when you move it, time passes for both. Use it on your \
            machine only: everybody who can reach the store has full access to it.
            """)

    @Option(name: .long, help: "The folder of keys and databases; it is created if it does not exist.")
    var folder = "assay-dev"

    @Option(name: .long, help: "The bundle id of the app.")
    var bundleID = "com.example.app"

    @Option(name: .long, help: "The port of the purchase server; 0 selects a free port.")
    var port = 8080

    @Option(name: .long, help: "The port of the store; 0 selects a free port.")
    var storePort = 8090

    @Flag(name: .long, help: "Does not open the store's page in a browser.")
    var noOpen = false

    @Option(name: .long, help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel = "warning"

    func validate() throws {
        for (option, port) in [("--port", port), ("--store-port", storePort)] where !(0...65_535).contains(port) {
            throw ValidationError("'\(option)' is a number from 0 to 65535, not \(port).")
        }
    }

    func run() async throws {
        guard let level = Logger.Level(rawValue: logLevel.lowercased()) else {
            throw ValidationError(
                "'\(logLevel)' is not a log level; use trace, debug, info, notice, warning, error or critical.")
        }
        var logger = Logger(label: "assay") { _ in StreamLogHandler.standardError(label: "assay") }
        logger.logLevel = level
        try Self.requireFree(port, option: "--port")
        try Self.requireFree(storePort, option: "--store-port")
        let folder = URL(fileURLWithPath: folder, isDirectory: true)
        // The folder has keys that buy anything, so its files are for this user only, whatever the umask was.
        umask(0o077)
        do {
            try Self.openFolder(folder)
        } catch {
            throw InputError(folder.path, "cannot be created: \(error.localizedDescription)")
        }
        let authority = try AppStoreAuthority(folder: folder.appending(path: "authority"))
        do {
            try Self.closeFiles(folder)
        } catch {
            throw InputError(folder.path, "cannot be closed to other users: \(error.localizedDescription)")
        }
        let time = SimulatorTime()
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        do {
            try await serve(folder, authority, database, time, logger)
        } catch {
            Terminal.complain("\(error)")
            try await database.close()
            throw ExitCode.unusable
        }
        try await database.close()
    }

    private static func openFolder(_ folder: URL) throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: folder.path) {
            // Another folder of the user, such as the current one, keeps its mode.
            guard manager.fileExists(atPath: folder.appending(path: "entries.key").path) else { return }
            try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        } else {
            try manager.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    /// Closes what is in the folder to other users: the certificates of the authority, and the files of an earlier start.
    private static func closeFiles(_ folder: URL) throws {
        let manager = FileManager.default
        guard let names = manager.enumerator(atPath: folder.path) else { return }
        while let name = names.nextObject() as? String {
            let isFolder = names.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
            guard
                ["authority", "assay.sqlite", "store.sqlite", "answers.key"].contains(where: name.hasPrefix)
                    || name.hasSuffix(".key")
            else {
                if isFolder { names.skipDescendants() }
                continue
            }
            try manager.setAttributes(
                [.posixPermissions: isFolder ? 0o700 : 0o600], ofItemAtPath: folder.appending(path: name).path)
        }
    }

    private func serve(
        _ folder: URL, _ authority: AppStoreAuthority, _ database: SQLiteDatabase, _ time: SimulatorTime,
        _ logger: Logger
    ) async throws {
        let trust = folder.appending(path: "authority/\(AppStoreAuthority.trustFile)").path
        var configuration = ServerConfiguration()
        configuration.port = port
        configuration.anchors = try TrustFile.anchors([trust])
        // Signed evidence states the kinds of the products, so new ones need no settings.
        var app = RegisteredApp(id: "dev", bundleIDs: [bundleID])
        app.sandboxAccess = .everyone
        configuration.apps = [app.id: app]
        let keys = AnswerKeyFiles(current: folder.appending(path: "answers.key").path)
        try keys.createIfMissing()
        configuration.answerSigner = AnswerSigner(text: try SecretFile.secret(keys.current))
        configuration.answerSigner?.clock = { Int64(time.now.timeIntervalSince1970) }
        try await LedgerMigrations.migrate(database, now: .now)
        let (entryKey, _) = try await EntryKey.openOrCreate(
            at: folder.appending(path: "entries.key").path, of: database)
        let ledger = try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: configuration.anchors), apps: [app],
            clock: { Timestamp(time.now) }, entryKey: entryKey)
        let clientKey = try await key("client", .client, folder, ledger)
        _ = try await key("admin", .admin, folder, ledger)
        let sealing = try RecordSealing(ledger: ledger, signer: nil, places: [], logger: logger)
        let (addresses, ready) = AsyncStream.makeStream(of: String.self)
        let server = purchaseServer(configuration, ledger: ledger, logger: logger, services: [sealing]) { address in
            ready.yield(address)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [configuration] in
                // If the server cannot start, the wait for its address ends.
                defer { ready.finish() }
                do {
                    try await server.runService()
                } catch {
                    throw StartFailure(description: Serve.words(error, configuration))
                }
            }
            for await address in addresses {
                var settings = SimulatorConfiguration()
                settings.port = storePort
                settings.database = folder.appending(path: "store.sqlite").path
                settings.server = address
                settings.serverKey = clientKey
                settings.time = time
                settings.sampleApp = bundleID
                let store = try simulatorServer(settings, authority: authority, logger: logger) { storeAddress in
                    do {
                        Terminal.write(try guide(address, storeAddress, clientKey, keys, trust, folder))
                    } catch {
                        Terminal.complain("\(error)")
                    }
                    if !noOpen { Self.open(storeAddress) }
                }
                group.addTask { [settings] in
                    do {
                        try await store.runService()
                    } catch {
                        let words = SimulatorFailure.words(error, settings, portOption: "--store-port")
                        throw StartFailure(description: words)
                    }
                }
                break
            }
            // Both end with the signal; if one fails, the other is cancelled.
            try await group.next()
            group.cancelAll()
        }
    }

    /// Checks a port before anything is created.
    private static func requireFree(_ port: Int, option: String) throws {
        var configuration = ServerConfiguration()
        configuration.port = port
        do {
            try ListeningPort.requireFree(configuration.host, port)
        } catch {
            Terminal.complain(Serve.words(error, configuration).replacing("--port", with: option))
            throw ExitCode.unusable
        }
    }

    /// A key, which is kept in the folder: the server stores only its hash.
    private func key(
        _ name: String, _ scope: APIKeyScope, _ folder: URL, _ ledger: PurchaseLedger
    ) async throws -> String {
        let path = folder.appending(path: "\(name).key").path
        if FileManager.default.fileExists(atPath: path) { return try SecretFile.secret(path) }
        let file = try SecretOutputFile(creating: path)
        let created = try await ledger.perform(CreateAPIKey(app: "dev", name: name, scopes: [scope]))
        try file.write("\(created.text)\n")
        return created.text
    }

    /// The values to put into the app.
    private func guide(
        _ server: String, _ store: String, _ clientKey: String, _ keys: AnswerKeyFiles, _ trust: String, _ folder: URL
    ) throws -> String {
        """
        assay: ready on \(server); the store is open on \(store)

        Put into the app, in debug builds only:

            let connection = PurchaseConnection(
                service: HTTPPurchaseService(server: URL(string: "\(server)")!),
                key: "\(clientKey)",
                answerKeys: try AnswerKeys(
                    current: "\(try keys.publicKey(keys.current))",
                    next: "\(try keys.nextPublicKey() ?? "")"))

        The store's certificates are in \(trust); give them to DeviceVerifier(anchors:).
        The app's interface to the store is \(store)/app/products?bundle_id=\(bundleID); the customer is alice.
        For your backend: the key in \(folder.appending(path: "admin.key").path).


        """
    }

    /// Opens a page in a browser, where there is one.
    private static func open(_ address: String) {
        #if os(macOS)
            let program = "/usr/bin/open"
        #else
            let program = "/usr/bin/xdg-open"
        #endif
        guard FileManager.default.isExecutableFile(atPath: program) else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [address]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            Terminal.complain("the page was not opened: \(error.localizedDescription)")
        }
    }
}

/// Describes in words why one of the two programs does not run.
private struct StartFailure: Error, CustomStringConvertible {
    let description: String
}
