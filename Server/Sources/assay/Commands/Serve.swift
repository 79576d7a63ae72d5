import AppStoreConnection
import ArgumentParser
import BuildInformation
import Foundation
import Hummingbird
import Logging
import NIOCore
import PurchaseConsole
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServiceLifecycle
import UnixSignals

/// `assay serve`: the drop-in for `verifyReceipt`, and the purchase server.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs the server: verifyReceipt as Apple answers it, and the purchase ledger.",
        discussion: """
            Each option names the environment variable and the line of the settings file for the same setting. An \
            option overrides the environment, and the environment overrides the settings file, which also lists the \
            apps. Without any setting the database is assay.sqlite in the current folder.
            """)

    @OptionGroup var ledger: LedgerDatabaseOptions
    @OptionGroup var server: ServerOptions

    /// The reason why the server does not run, and what to do.
    static func words(_ error: any Error, _ configuration: ServerConfiguration) -> String {
        if let refusal = error as? LedgerRefusal { return refusal.line }
        if let error = error as? LedgerStorageError { return "\(error)" }
        if let error = error as? LogError { return "\(error)" }
        if let error = error as? AppStoreConnectionSettingsError { return "\(error)" }
        if let error = error as? AdminListenerError { return "\(error)" }
        if let error = error as? ListeningPort.Unusable {
            return
                "\(configuration.host.printable): \(error); write an address of this machine in server.host (--host), "
                + "such as 127.0.0.1"
        }
        return switch (error as? IOError)?.errnoCode {
        case EADDRINUSE:
            "port \(configuration.port) is in use; choose another with --port, or a free one with --port 0"
        case EACCES: "port \(configuration.port) is not permitted; choose one above 1023 with --port"
        case EADDRNOTAVAIL: "\(configuration.host) is not an address of this machine; choose another with --host"
        default: "the server stopped: \(error)"
        }
    }

    /// Says where the listener for operators is, if another program has its standard port.
    static func remarkGivenWay(_ configuration: ServerConfiguration, _ address: String) {
        guard configuration.isAdminStandard, configuration.admin == .standard,
            address != "http://\(configuration.admin)"
        else { return }
        Terminal.remark("another program has \(configuration.admin): metrics, health and console are on \(address)")
    }

    /// Prints the link of the first operator, until one has a password. A log of lines in JSON gets none, because logs
    /// are kept longer than secrets should be.
    private static func offerConsole(_ address: String, _ ledger: PurchaseLedger) async {
        guard address.hasPrefix("http"), isatty(STDERR_FILENO) == 1 else { return }
        await showConsoleLink(address, ledger)
    }

    /// Prints the link of the first operator, while nobody can sign in to the console.
    static func showConsoleLink(_ address: String, _ ledger: PurchaseLedger) async {
        do {
            guard let link = try await ledger.perform(FirstOperatorLink()) else { return }
            Terminal.remark(
                "the console has no operator yet; set a password at \(address)/console/link?secret=\(link.text)")
        } catch {
            Terminal.complain("no link to the console was made: \(error)")
        }
    }

    /// Whether a log in JSON was asked for. The settings are not read yet: they may have the errors that end the start.
    private func isLogJSON(_ environment: [String: String]) -> Bool {
        if let format = server.logFormat ?? environment[ServerSetting.logFormat.variable ?? ""] {
            return format.lowercased() == "json"
        }
        let file = URL(fileURLWithPath: ledger.settingsPath(environment)).resolvingSymlinksInPath().path
        // A pipe can be read once.
        guard (try? FileManager.default.attributesOfItem(atPath: file))?[.type] as? FileAttributeType == .typeRegular,
            let bytes = try? InputFile.read(file)
        else { return false }
        return String(decoding: bytes, as: UTF8.self).contains(/(?mi)^[^#\n]*\blog_format:\s*["']?json\b/)
    }

    /// Ends the start, before anything is created, if the server cannot listen.
    private static func requireListening(_ configuration: ServerConfiguration) throws {
        var reasons: [String] = []
        do {
            try ListeningPort.requireFree(configuration.host, configuration.port)
        } catch {
            reasons.append(words(error, configuration))
        }
        do {
            // The standard address gives way to another program.
            if !configuration.isAdminStandard { try ListeningPort.requireFree(configuration.admin) }
        } catch {
            reasons.append(AdminListenerError.words(error, configuration.admin))
        }
        for reason in reasons { Terminal.complain(reason) }
        if !reasons.isEmpty { throw ExitCode.unusable }
    }

    func run() async throws {
        // From here on, SIGHUP no longer ends the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let environment = ProcessInfo.processInfo.environment
        if isLogJSON(environment) { Terminal.useLog(LineLogHandler.logger(.json, level: .info)) }
        let options = server.values
        let place = try ledger.place(environment, options: options, files: .read)
        let (named, configuration) = (ledger.naming(place), place.configuration)
        let logger = LineLogHandler.logger(configuration.logFormat, level: configuration.logLevel)
        if configuration.logFormat == .json { Terminal.useLog(logger) }
        try Self.requireListening(configuration)
        let start = ServeStart(configuration: configuration, settings: place.path, database: place.databaseName)
        let notices = ServiceManager(environment).map {
            ServiceNotices(manager: $0, loops: EventLoopGroupProvider.singleton.eventLoopGroup, logger: logger)
        }
        var dependencies = ServerDependencies()
        dependencies.openDatabase = { _ in
            let database = try place.open(isCreating: true)
            start.log(to: logger)
            return database
        }
        dependencies.remark = Terminal.remark
        dependencies.build = start.build
        let readPlace: @Sendable () throws -> LedgerPlace = {
            try named.place(environment, options: options, files: .read)
        }
        dependencies.settings = SettingsSource(hangups, notices) { try readPlace().configuration }
        dependencies.console.redactedReport = { InspectionReport.redacted($0) }
        let examination = InstallationExamination(
            settingsPath: named.settingsPath(environment), backups: InstallationExamination.backups(environment),
            isAskingApple: false, isDelivering: false, readPlace: readPlace)
        dependencies.console.examine = { await examination.findings().map { InstallationFinding($0) } }
        do {
            let server = try await startPurchaseServer(configuration, dependencies, logger: logger)
            let application = server.application(
                onReady: { address in
                    Terminal.write("assay: ready on \(address)\n")
                    notices?.tell(.ready)
                },
                onAdminReady: { [ledger = server.ledger] address in
                    Self.remarkGivenWay(configuration, address)
                    await Self.offerConsole(address, ledger)
                })
            // The last service ends first, so the manager hears of the end before the last requests are answered.
            let services: [any Service] = [application] + [notices].compactMap(\.self)
            try await ServiceGroup(
                services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
            ).run()
        } catch let error as InputError {
            throw error
        } catch {
            Terminal.complain(Self.words(error, configuration))
            throw ExitCode.unusable
        }
        logger.notice("assay serve stopped")
    }
}

extension SettingsSource {
    /// Settings that are read again at each SIGHUP.
    ///
    /// - Parameters:
    ///   - hangups: the signals.
    ///   - notices: told before and after.
    ///   - read: reads the settings.
    init(
        _ hangups: UnixSignalsSequence, _ notices: ServiceNotices? = nil,
        read: @escaping @Sendable () throws -> ServerConfiguration
    ) {
        self.init(read: read) { reload in
            for await _ in hangups {
                notices?.tell(.reloading)
                await reload()
                notices?.tell(.ready)
            }
        }
    }
}

/// The first line of a server's log: the version, the database and the settings.
struct ServeStart {
    let configuration: ServerConfiguration
    /// The settings file; `nil` if none was read.
    let settings: String?
    let database: String

    /// The build, for the metrics.
    var build: ServerBuild { ServerBuild(version: "\(Assay.version)", commit: "\(BuildInformation.commit)") }

    func log(to logger: Logger) {
        logger.notice(
            "assay serve starts",
            metadata: [
                "version": "\(Assay.version)", "commit": "\(BuildInformation.commit)",
                "settings": "\(settings ?? "none")", "database": "\(database)",
                "schema": .stringConvertible(Int(LedgerMigrations.current)),
                "apps": .array(configuration.apps.keys.sorted().map { "\($0)" }),
                "environments": .array(configuration.environments.map(\.name).sorted().map { "\($0)" }),
            ])
        // Names begin with the common name.
        let names = configuration.anchors.map { anchor in
            String(anchor.subject.prefix { $0 != "," }).replacing("CN=", with: "", maxReplacements: 1)
        }
        logger.notice("assay serve trusts", metadata: ["trust_anchors": .array(names.map { "\($0)" })])
    }
}
