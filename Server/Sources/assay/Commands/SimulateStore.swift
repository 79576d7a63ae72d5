public import AppStoreSimulator
public import ArgumentParser
import EvidenceMint
import Foundation
import Hummingbird
import Logging
import PurchaseVerification

/// `assay simulate`, or `assay simulate store`: an App Store of one's own.
struct SimulateStore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Runs a simulated App Store: buy, renew, refund and forge on any machine.",
        discussion: """
            What it signs verifies with '--trust FOLDER/trust.pem' and nowhere else. Its environments are called \
            AssaySimulatorProduction and AssaySimulatorSandbox; with '--environment-names apple' it uses Apple's names, which \
            most clients under test insist on. Everybody who reaches it may do everything with it. It answers requests whose \
            header 'Host' names this machine's loopback interface, the address of '--host', or a name of '--allow-host', \
            and all others with 421: else a web page could reach it under a name of its own.
            """)

    @Option(name: .long, help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A name or address by which clients reach it, such as appstore.test. Repeat for several.", valueName: "name"
        ))
    var allowHost: [String] = []

    @Option(name: .long, help: "The port to listen on; 0 takes a free one.")
    var port = 8090

    @Option(name: .long, help: "The SQLite file that keeps the state; nothing is kept, if not given.")
    var database: String?

    @Option(name: .long, help: "The folder of the authority; it is made if it is not there.")
    var authority = "assay-authority"

    @Option(
        name: .long,
        help: "Where the store's clock stands, such as 2026-01-31T12:00:00Z; it runs with the machine's, if not given.")
    var clock: Timestamp?

    @Option(
        name: .long,
        help:
            "What apps call their environments: \(EnvironmentNames.allCases.map(\.rawValue).joined(separator: " or "))."
    )
    var environmentNames = EnvironmentNames.simulator

    @Option(name: .long, help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel = "notice"

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
    }

    func run() async throws {
        var configuration = SimulatorConfiguration()
        configuration.host = host
        configuration.allowedHosts = allowHost
        configuration.port = port
        configuration.database = database
        configuration.clock = clock?.date
        configuration.environmentNames = environmentNames
        guard let level = Logger.Level(rawValue: logLevel.lowercased()) else {
            throw ValidationError("'\(logLevel)' is no log level.")
        }
        var logger = Logger(label: "assay") { _ in StreamLogHandler.standardError(label: "assay") }
        logger.logLevel = level
        let folder = URL(fileURLWithPath: authority, isDirectory: true)
        do {
            let trust = "\(authority)/\(AppStoreAuthority.trustFile)"
            let server = try simulatorServer(
                configuration, authority: try AppStoreAuthority(folder: folder), logger: logger
            ) { address in
                Terminal.write("assay: the store is open on \(address); trust \(trust)\n")
            }
            try await server.runService()
        } catch {
            Terminal.complain(SimulatorFailure.words(error, configuration))
            throw ExitCode.unusable
        }
    }
}

extension EnvironmentNames: ExpressibleByArgument {}
