import AppStoreSimulator
import ArgumentParser
import Foundation
import Logging
import PurchaseServer

/// `assay simulate demo-data`.
struct DemoData: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-data",
        abstract: "Makes a folder for 'assay dev' with customers and a year of their purchases, to look at.",
        discussion: """
            A simulated App Store sells, renews, refunds and notifies, day by day for a year, and a server verifies and \
            records, as with 'assay dev'; every row comes about in the usual way. Some customers send what was forged or \
            belongs to others. Afterwards 'assay dev --folder FOLDER' opens the store, and the console shows the customers. \
            The same seed and number of customers give the same story.
            """)

    @Option(help: "The number of customers, from 1 to 100000.") var customers = 100
    @Option(help: "The number that selects the story.") var seed: UInt64 = 1
    @Option(help: "The folder to make; it must not exist.") var folder = "assay-demo"
    @Flag(help: "Prints no progress.") var quiet = false

    func validate() throws {
        guard (1...100_000).contains(customers) else {
            throw ValidationError("'--customers' is a number from 1 to 100000, not \(customers).")
        }
    }

    func run() async throws {
        guard !FileManager.default.fileExists(atPath: folder) else {
            throw InputError(folder, "exists already; name a new folder with --folder")
        }
        var logger = Logger(label: "assay") { _ in StreamLogHandler.standardError(label: "assay") }
        // The two end when the year is over, which their services report.
        logger.logLevel = .critical
        let now = Date()
        var run = DevRun(
            folder: URL(fileURLWithPath: folder, isDirectory: true), config: nil, bundleID: nil, port: 0, storePort: 0,
            opensPage: false, logger: logger)
        run.clock = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded() - Double(DemoYear.days) * 86_400)
        run.change = { configuration in
            // A year of requests comes within minutes.
            configuration.limits.perKey = RateLimit(perSecond: 1_000_000, burst: 1_000_000)
            configuration.limits.perAddress = RateLimit(perSecond: 1_000_000, burst: 1_000_000)
        }
        let (customers, seed, quiet) = (customers, seed, quiet)
        run.whenReady = { addresses in
            guard let app = addresses.keys.apps.first else { throw InputError(addresses.server, "has no app") }
            let year = DemoYear(
                store: addresses.store, server: addresses.server, clientKey: app.clientKey, customers: customers,
                seed: seed)
            let done = try await year.run { day in
                if !quiet, day.isMultiple(of: 73) { Terminal.remark("day \(day) of \(DemoYear.days)") }
            }
            Terminal.remark(done)
        }
        try await run.run()
        Terminal.write("assay: made \(folder); look at it with: assay dev --folder \(folder)\n")
    }
}
