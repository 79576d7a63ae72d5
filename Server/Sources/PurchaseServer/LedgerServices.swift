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
