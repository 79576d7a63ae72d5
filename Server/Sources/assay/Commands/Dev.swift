import AppStoreSimulator
import ArgumentParser
import EvidenceMint
import Foundation
import Hummingbird
import Logging
import PurchaseServer
import PurchaseVerification
import UnixSignals

/// `assay dev`: everything that an app developer needs, in one process with one clock.
struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a simulated App Store and a purchase server together, with keys and one clock.",
        discussion: """
            It prints the values to put into the app. Keys and databases are in the folder, so a second start continues where the \
            first one ended. The server is that of 'assay serve', with the apps, webhooks and limits of the settings file; its \
            database, keys, certificates and addresses are those of the folder and the store. It follows the store's clock: when you move it, time passes for both. \
            The store sends its notifications to the server. Use it on your \
            machine only: everybody who can reach the store has full access to it.
            """)

    @Option(name: .long, help: "The folder of keys and databases; it is created if it does not exist.")
    var folder = "assay-dev"

    @Option(
        name: .long,
        help: "The settings file of the apps, as for assay serve. SIGHUP reads it again.")
    var config: String?

    @Option(name: .long, help: "The bundle id of the app, without a settings file (com.example.app).")
    var bundleID: String?

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
        guard config == nil || bundleID == nil else {
            throw ValidationError("The settings file names the bundle ids of its apps; leave out '--bundle-id'.")
        }
    }

    func run() async throws {
        guard let level = Logger.Level(rawValue: logLevel.lowercased()) else {
            throw ValidationError(
                "'\(logLevel)' is not a log level; use trace, debug, info, notice, warning, error or critical.")
        }
        var logger = Logger(label: "assay") { _ in StreamLogHandler.standardError(label: "assay") }
        logger.logLevel = level
        // From here on, SIGHUP no longer ends the process, if there is a file to read again.
        let hangups = config == nil ? nil : await UnixSignalsSequence(trapping: .sighup)
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
        let settings = DevSettings(folder: folder, config: config, bundleID: bundleID ?? "com.example.app", port: port)
        try settings.answerKeys.createIfMissing()
        let configuration = try settings.read()
        do {
            try await run(settings, configuration, authority, hangups, logger)
        } catch let error as InputError {
            throw error
        } catch {
            Terminal.complain("\(error)")
            throw ExitCode.unusable
        }
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

    /// Closes what is in the folder to other users: the certificates of the authority, and the files of an earlier
    /// start.
    private static func closeFiles(_ folder: URL) throws {
        let manager = FileManager.default
        guard let names = manager.enumerator(atPath: folder.path) else { return }
        while let name = names.nextObject() as? String {
            let isFolder = names.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
            guard
                ["authority", "assay.sqlite", "store.sqlite", "answers.key", "log.key"].contains(where: name.hasPrefix)
                    || name.hasSuffix(".key")
            else {
                if isFolder { names.skipDescendants() }
                continue
            }
            try manager.setAttributes(
                [.posixPermissions: isFolder ? 0o700 : 0o600], ofItemAtPath: folder.appending(path: name).path)
        }
    }

    /// Runs the store, and then the server, which asks it.
    private func run(
        _ settings: DevSettings, _ configuration: ServerConfiguration, _ authority: AppStoreAuthority,
        _ hangups: UnixSignalsSequence?, _ logger: Logger
    ) async throws {
        let (time, target) = (SimulatorTime(), EvidenceTarget(takesNotifications: true))
        var simulator = SimulatorConfiguration()
        simulator.port = storePort
        simulator.database = settings.folder.appending(path: "store.sqlite").path
        simulator.target = target
        simulator.time = time
        simulator.shops = settings.shops(configuration)
        let (addresses, ready) = AsyncStream.makeStream(of: String.self)
        let store = try simulatorServer(simulator, authority: authority, logger: logger) { address in
            ready.yield(address)
            ready.finish()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [simulator] in
                // If the store cannot start, the wait for its address ends.
                defer { ready.finish() }
                do {
                    try await store.runService()
                } catch {
                    let words = SimulatorFailure.words(error, simulator, portOption: "--store-port")
                    throw StartFailure(description: words)
                }
            }
            for await storeAddress in addresses {
                let server = try await start(settings, configuration, storeAddress, time, hangups, logger)
                group.addTask { try await serve(server, settings, configuration, storeAddress, target) }
            }
            // Both end with the signal; if one fails, the other is cancelled.
            try await group.next()
            group.cancelAll()
        }
    }

    /// Opens the server of `assay serve`, on the store's clock and with its certificates.
    private func start(
        _ settings: DevSettings, _ configuration: ServerConfiguration, _ store: String, _ time: SimulatorTime,
        _ hangups: UnixSignalsSequence?, _ logger: Logger
    ) async throws -> StartedServer {
        var dependencies = ServerDependencies()
        dependencies.clock = { AppStoreTime(time.now) }
        dependencies.remark = Terminal.remark
        if let hangups {
            dependencies.settings = SettingsSource(hangups) { settings.asking(store, in: try settings.read()) }
        }
        do {
            return try await startPurchaseServer(
                settings.asking(store, in: configuration), dependencies, logger: logger)
        } catch {
            throw StartFailure(description: Serve.words(error, configuration))
        }
    }

    private func serve(
        _ server: StartedServer, _ settings: DevSettings, _ configuration: ServerConfiguration, _ store: String,
        _ target: EvidenceTarget
    ) async throws {
        let keys: DevKeys
        do {
            keys = try await DevKeys(settings, configuration, server.ledger)
        } catch {
            try await server.close()
            throw error
        }
        do {
            try await server.application(
                onReady: { address in
                    do {
                        try target.set(
                            address, key: nil, keys: keys.clientKeysByBundleID, readingKeys: keys.adminKeysByBundleID)
                        Terminal.write(try guide(address, store, keys, settings))
                    } catch {
                        Terminal.complain("\(error)")
                    }
                    if !noOpen { Self.open(store) }
                },
                onAdminReady: { address in
                    guard address.hasPrefix("http") else { return }
                    target.setConsole("\(address)/console")
                    await Serve.showConsoleLink(address, server.ledger)
                }
            ).runService()
        } catch {
            throw StartFailure(description: Serve.words(error, configuration))
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

    /// The values to put into the app.
    private func guide(_ server: String, _ store: String, _ keys: DevKeys, _ settings: DevSettings) throws -> String {
        var text = """
            assay: ready on \(server); the store is open on \(store)


            """
        for app in keys.apps {
            text += """
                Put into the app\(keys.apps.count > 1 ? " \(app.bundleID)" : ""), in debug builds only:

                    let connection = PurchaseConnection(
                        service: HTTPPurchaseService(server: URL(string: "\(server)")!),
                        key: "\(app.clientKey)",
                        answerKeys: try AnswerKeys(
                            current: "\(try settings.answerKeys.publicKey(settings.answerKeys.current))",
                            next: "\(try settings.answerKeys.nextPublicKey() ?? "")"))

                The app's interface to the store is \(store)/app/products?bundle_id=\(app.bundleID); the customer is alice.
                For your backend: the key in \(app.adminKeyFile).


                """
        }
        return text + """
            The store's certificates are in \(settings.trust); give them to DeviceVerifier(anchors:).


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
