import ArgumentParser
import Foundation
import Logging

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
