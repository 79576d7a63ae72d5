import AppStoreSimulator
import ArgumentParser
import EvidenceMint
import Foundation
import Hummingbird
import Logging
import PurchaseConsole
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

    @Option(help: "The folder of keys and databases; it is created if it does not exist.") var folder = "assay-dev"
    @Option(help: "The settings file of the apps, as for assay serve. SIGHUP reads it again.") var config: String?
    @Option(help: "The bundle id of the app, without a settings file (com.example.app).") var bundleID: String?
    @Option(help: "The port of the purchase server; 0 selects a free port.") var port = 8080
    @Option(help: "The port of the store; 0 selects a free port.") var storePort = 8090
    @Flag(help: "Does not open the store's page in a browser.") var noOpen = false
    @Option(help: "trace, debug, info, notice, warning, error or critical.") var logLevel = "warning"

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
        try await DevRun(
            folder: URL(fileURLWithPath: folder, isDirectory: true), config: config, bundleID: bundleID, port: port,
            storePort: storePort, opensPage: !noOpen, logger: logger
        ).run()
    }
}

/// A store and a purchase server in one process, with the keys and databases of a folder and one clock.
struct DevRun: Sendable {
    let folder: URL
    let config: String?
    let bundleID: String?
    let port: Int
    let storePort: Int
    let opensPage: Bool
    let logger: Logger
    /// The time of a new store's clock, which then stands; `nil` for that of the machine.
    var clock: Date?
    /// Changes the settings of the server.
    var change: @Sendable (inout ServerConfiguration) -> Void = { _ in }
    /// Work with both, after which they end; `nil` lets them run until a signal.
    var whenReady: (@Sendable (DevAddresses) async throws -> Void)?

    /// Runs both until a signal, or until the work is done.
    func run() async throws {
        // From here on, SIGHUP no longer ends the process, if there is a file to read again.
        let hangups = config == nil ? nil : await UnixSignalsSequence(trapping: .sighup)
        try Self.requireFree(port, option: "--port")
        try Self.requireFree(storePort, option: "--store-port")
        let bundleID = bundleID ?? "com.example.app"
        let settings = DevSettings(
            folder: folder, config: config, bundleID: bundleID, port: port, catalog: DevCatalog(bundleID: bundleID))
        _ = try settings.read(isMade: false)
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
        try settings.answerKeys.createIfMissing()
        var configuration = try settings.read()
        change(&configuration)
        do {
            try await run(settings, configuration, authority, hangups)
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
        _ hangups: UnixSignalsSequence?
    ) async throws {
        let (time, target) = (SimulatorTime(), EvidenceTarget(takesNotifications: true))
        var simulator = SimulatorConfiguration()
        simulator.port = storePort
        simulator.clock = clock
        simulator.database = settings.folder.appending(path: "store.sqlite").path
        simulator.target = target
        simulator.time = time
        simulator.shops = settings.shops(configuration)
        simulator.customerEnvironment = .production
        simulator.onProducts = { await settings.catalog.take($0) }
        let (addresses, ready) = AsyncStream.makeStream(of: String.self)
        let store = try simulatorServer(simulator, authority: authority, logger: logger) { address in
            ready.yield(address)
            ready.finish()
        }
        // Whether the work is done: the store and the server end without it.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [simulator] in
                // If the store cannot start, the wait for its address ends.
                defer { ready.finish() }
                do {
                    try await store.runService()
                    return false
                } catch {
                    let words = SimulatorFailure.words(error, simulator, portOption: "--store-port")
                    throw StartFailure(description: words)
                }
            }
            for await storeAddress in addresses {
                let server = try await start(settings, storeAddress, time, hangups)
                let (running, ready) = AsyncStream.makeStream(of: DevAddresses.self)
                group.addTask {
                    defer { ready.finish() }
                    try await serve(server, settings, configuration, storeAddress, target, ready)
                    return false
                }
                guard let whenReady else { continue }
                group.addTask {
                    for await addresses in running {
                        try await whenReady(addresses)
                        return true
                    }
                    throw StartFailure(description: "the server did not start")
                }
            }
            // Both end with the signal; with the work, or if one fails, the others are cancelled.
            let isDone = try await group.next() ?? false
            if whenReady == nil { return try await group.waitForAll() }
            group.cancelAll()
            guard isDone else {
                throw StartFailure(description: "it was stopped before the work was done")
            }
        }
    }

    /// Opens the server of `assay serve`, on the store's clock and with its certificates.
    private func start(
        _ settings: DevSettings, _ store: String, _ time: SimulatorTime, _ hangups: UnixSignalsSequence?
    ) async throws -> StartedServer {
        let read: @Sendable () throws -> ServerConfiguration = {
            var configuration = try settings.read()
            change(&configuration)
            return settings.asking(store, in: configuration)
        }
        let configuration = try read()
        var dependencies = ServerDependencies()
        dependencies.clock = { AppStoreTime(time.now) }
        dependencies.remark = Terminal.remark
        dependencies.console.store = store
        dependencies.console.redactedReport = { InspectionReport.redacted($0) }
        if let hangups {
            dependencies.settings = SettingsSource(hangups, read: read)
        } else {
            dependencies.settings = SettingsSource(read: read) { await settings.catalog.follow($0) }
        }
        do {
            return try await startPurchaseServer(configuration, dependencies, logger: logger)
        } catch {
            throw StartFailure(description: Serve.words(error, configuration))
        }
    }

    private func serve(
        _ server: StartedServer, _ settings: DevSettings, _ configuration: ServerConfiguration, _ store: String,
        _ target: EvidenceTarget, _ ready: AsyncStream<DevAddresses>.Continuation
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
                        if whenReady == nil { Terminal.write(try guide(address, store, keys, settings)) }
                        ready.yield(DevAddresses(server: address, store: store, keys: keys))
                        ready.finish()
                    } catch {
                        Terminal.complain("\(error)")
                    }
                    if opensPage { Self.open(store) }
                },
                onAdminReady: { address in
                    guard address.hasPrefix("http") else { return }
                    target.setConsole("\(address)/console")
                    if whenReady == nil {
                        Serve.remarkGivenWay(configuration, address)
                        Terminal.remark("the console is at \(address)/console")
                    }
                    if whenReady == nil { await Serve.showConsoleLink(address, server.ledger) }
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
                For your backend: the key in \(app.backendKeyFile).


                """
        }
        return text + """
            The store's certificates are in \(settings.trust); give them to DeviceVerifier(anchors:).
            Commands take its ledger by --folder. When an app or a backend has sent a purchase of alice:
                assay show alice --folder \(settings.folder.path)


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

/// Where the server and the store of `assay dev` are, and the keys of their apps.
struct DevAddresses: Sendable {
    /// `http://HOST:PORT`.
    let server: String
    let store: String
    let keys: DevKeys
}
