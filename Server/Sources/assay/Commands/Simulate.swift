public import AppStoreSimulator
public import ArgumentParser
import EvidenceMint
import Foundation
import Hummingbird
import Logging
import PurchaseServer
import PurchaseVerification

/// `assay simulate`: a simulated App Store, and attacks on servers that trust it.
///
/// It has no options itself, because a command consumes options of its subcommands with the same names. Its help shows
/// those of the store.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a simulated App Store, a scenario on it, or attacks on a server.",
        discussion:
            "Without a subcommand, 'assay simulate' runs the store, with these options:\n\n\(SimulateStore.optionsHelp)",
        subcommands: [SimulateStore.self, SimulateRun.self, SimulateAttacks.self, DemoData.self],
        defaultSubcommand: SimulateStore.self)
}

extension ParsableCommand {
    /// The options of the command, as its own help lists them.
    static var optionsHelp: String {
        let help = helpMessage(includeHidden: false, columns: 80)
        guard let start = help.range(of: "OPTIONS:\n") else { return "" }
        return String(help[start.upperBound...]).trimmingCharacters(in: .newlines)
    }
}

/// `assay simulate`, or `assay simulate store`: a simulated App Store.
struct SimulateStore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Runs a simulated App Store: buy, renew, refund and forge on any machine.",
        discussion: """
            Its evidence verifies only for verifiers that trust its authority: 'assay serve --trust FOLDER/trust.pem'. Its \
            environments are Production and Sandbox; with '--environment-names simulator' they have names that no server mistakes \
            for Apple's. Everybody who can reach it has full access to it. It answers requests whose header 'Host' names \
            this machine's loopback interface, the address of '--host', or a name of '--allow-host', and all others with 421, \
            so that a web page cannot reach it under its own host name.
            """)

    @Option(name: .long, help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A name or address by which clients reach it, such as appstore.test; repeatable.", valueName: "name"
        ))
    var allowHost: [String] = []

    @Option(name: .long, help: "The port to listen on; 0 selects a free port.")
    var port = 8090

    @Option(
        name: .long,
        help: "The port for HTTPS, besides plain HTTP; 0 selects a free one. Clients trust FOLDER/https/root.pem.")
    var httpsPort: Int?

    @Option(name: .long, help: "The SQLite file that stores the state; without it, the state is lost at the end.")
    var database: String?

    @Option(name: .long, help: "The folder of the authority; it is created if it does not exist.")
    var authority = "assay-authority"

    @Option(
        name: .long,
        help:
            "The time of a stopped clock, such as 2026-01-31T12:00:00Z; without it, the clock runs with the machine's.")
    var clock: AppStoreTime?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The number of the first transaction, for repeatable runs; without it, a restart never reuses a number.",
            valueName: "number"))
    var firstTransaction: UInt64?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The server that the page sends evidence to, such as http://127.0.0.1:8080.", valueName: "url"))
    var server: String?

    @Option(
        name: .long, help: ArgumentHelp("The file with that server's key for /v1/purchases.", valueName: "file"))
    var serverKeyFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The address that gets notifications, such as http://127.0.0.1:8080/notifications/v2.", valueName: "url"))
    var notify: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Certificates in PEM that this address is trusted with, besides those of the machine.", valueName: "file"))
    var notifyTrust: String?

    @Option(
        name: .long,
        help: "The names of the environments: apple (Production, Sandbox) or simulator (AssaySimulatorProduction, …).")
    var environmentNames = EnvironmentNames.apple

    @Option(name: .long, help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel = "notice"

    @Option(
        name: .long,
        help: "The format of the log: text or json, one object per line. Requests are logged at level info.")
    var logFormat = "text"

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("'--port' is a number from 0 to 65535, not \(port).")
        }
        if let httpsPort, !(0...65_535).contains(httpsPort) {
            throw ValidationError("'--https-port' is a number from 0 to 65535, not \(httpsPort).")
        }
        if let firstTransaction, !(1...AppStore.maximumFirstTransaction).contains(firstTransaction) {
            throw ValidationError("'--first-transaction' is a number from 1 to \(AppStore.maximumFirstTransaction).")
        }
    }

    func run() async throws {
        var configuration = SimulatorConfiguration()
        configuration.host = host
        configuration.allowedHosts = allowHost
        configuration.port = port
        configuration.database = database
        configuration.clock = clock?.date
        configuration.environmentNames = environmentNames
        configuration.firstTransaction = firstTransaction
        configuration.server = server
        configuration.serverKey = try serverKeyFile.map { try SecretFile.text($0) }
        configuration.notificationURL = notify
        configuration.notificationTrustFile = notifyTrust
        guard let level = Logger.Level(rawValue: logLevel.lowercased()) else {
            throw ValidationError(
                "'\(logLevel)' is not a log level; use trace, debug, info, notice, warning, error or critical.")
        }
        guard let format = ServerConfiguration.LogFormat(rawValue: logFormat.lowercased()) else {
            throw ValidationError("'\(logFormat)' is not a format of the log; use text or json.")
        }
        let logger = LineLogHandler.logger(format, level: level)
        if format == .json { Terminal.useLog(logger) }
        let folder = URL(fileURLWithPath: authority, isDirectory: true)
        do {
            let trust = "\(authority)/\(AppStoreAuthority.trustFile)"
            let stores = try AppStoreAuthority(folder: folder)
            let lines = ReadyLines()
            let https = "https"
            if let httpsPort {
                let servers = try ServerCertificateAuthority(folder: folder.appendingPathComponent(https))
                configuration.https = .init(port: httpsPort, authority: servers)
            }
            let httpsTrust = "\(authority)/\(https)/\(ServerCertificateAuthority.trustFile)"
            let server = try simulatorServer(
                configuration, authority: stores, logger: logger,
                onReady: { await lines.write("assay: the store is open on \($0); trust \(trust)\n") },
                onHTTPSReady: { await lines.add("assay: the store is open on \($0); TLS trusts \(httpsTrust)\n") })
            try await server.runService()
        } catch {
            Terminal.complain(SimulatorFailure.words(error, configuration))
            throw ExitCode.unusable
        }
    }
}

/// Writes the line of plain HTTP first, whichever is ready first: programs that start the simulator read one line.
private actor ReadyLines {
    private var isWritten = false
    private var later = ""

    func write(_ line: String) {
        Terminal.write(line + later)
        isWritten = true
    }

    func add(_ line: String) {
        if isWritten { Terminal.write(line) } else { later += line }
    }
}

extension EnvironmentNames: ExpressibleByArgument {}
