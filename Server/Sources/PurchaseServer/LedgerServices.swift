import Logging
import PurchaseLedger
import ServiceLifecycle

/// What runs beside the HTTP server and uses the ledger. It ends after the server has answered its last request, and
/// then closes the database.
struct LedgerServices: Service, CustomStringConvertible {
    /// In the order of their dependencies: the last one ends first.
    let services: [any Service]
    let appStoreClaims: AppStoreClaimService
    let database: any LedgerDatabase
    let logger: Logger

    /// Its name alone, because groups of services log it.
    var description: String { "LedgerServices" }

    func run() async throws {
        do {
            try await ServiceGroup(services: services.map(NamedService.init), logger: logger).run()
        } catch {
            try await closeUncancelled()
            throw error
        }
        try await closeUncancelled()
    }

    func close() async throws {
        // Services that never ran have open connections as well.
        await appStoreClaims.end()
        // Every answered write is durable; closing checkpoints the WAL.
        try await database.close()
    }

    /// Closes in a task of its own, because a server that could not start has cancelled this one.
    private func closeUncancelled() async throws {
        try await Task { try await close() }.value
    }
}

/// A service of which a group logs the name alone: its properties are settings, with URLs and secrets.
private struct NamedService: Service, CustomStringConvertible {
    let service: any Service

    var description: String { "\(type(of: service))" }

    func run() async throws { try await service.run() }
}

/// Does work again and again while the server runs, and once more when it stops.
///
/// - Parameters:
///   - interval: the time between two times.
///   - work: handles its own errors.
func repeatUntilStop(every interval: Duration, _ work: @escaping @Sendable () async -> Void) async {
    await cancelWhenGracefulShutdown {
        do {
            while true {
                try await Task.sleep(for: interval)
                await work()
            }
        } catch {
            // The server stops.
        }
    }
    await work()
}

/// Records the refusals beyond the daily budget once a minute, and once more when the server stops. A process that is
/// killed loses at most the counts of the last minute.
struct RefusalRecording: Service {
    /// The time between two entries of a key.
    private static let interval = Duration.seconds(60)

    let ledger: PurchaseLedger
    let logger: Logger

    func run() async throws {
        await repeatUntilStop(every: Self.interval) { await write() }
    }

    private func write() async {
        do {
            try await ledger.recordCountedRefusals()
        } catch {
            // The next minute records them.
            logger.warning("counted refusals were not recorded", metadata: ["error": "\(type(of: error))"])
        }
    }
}
