import Logging
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle

/// Reads the settings again when it is asked to. Settings with an error change nothing, and the error is logged.
struct SettingsReload: Service {
    let source: SettingsSource
    let clock: @Sendable () -> Timestamp
    let server: ReloadableServer
    let webhooks: WebhookDispatcher
    let readings: ServerReadings
    let ledger: PurchaseLedger
    /// The settings at the start, for the settings that only a restart changes.
    let started: ServerConfiguration
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown { await source.requests { await reload() } }
        // Requests can end before the server does.
        try await gracefulShutdown()
    }

    private func reload() async {
        do {
            let configuration = try source.read().signing(by: clock)
            // A file that is being written, or was emptied, is far more likely than a server without a purpose.
            guard !configuration.apps.isEmpty || !server.hasApps else {
                throw SettingFault("they have no app, and those in force do", "Restart the server to remove all apps")
            }
            let ledger = try await ledger.underSettings(
                apps: configuration.appsInOrder, verifier: PurchaseVerifier(anchors: configuration.anchors))
            server.replaceSettings(by: configuration, ledger: ledger)
            webhooks.deliver(to: configuration.webhooks, from: ledger)
            readings.replace(webhooks: configuration.webhooks)
            for setting in configuration.settingsThatNeedRestart(comparedWith: started) {
                logger.warning(
                    "a setting differs from the running server's and takes a restart",
                    metadata: ["setting": "\(setting.name)"])
            }
            try await SettingsRemarks.log(configuration, ledger, logger)
            logger.notice(
                "settings reloaded",
                metadata: [
                    "apps": .stringConvertible(configuration.apps.count),
                    "webhooks": .stringConvertible(configuration.webhooks.count { $0.stream == .events }),
                    "forwards": .stringConvertible(configuration.webhooks.count { $0.stream != .events }),
                ])
            await count(ledger)
        } catch {
            for reason in Self.reasons(error) {
                logger.error(
                    "the settings were not reloaded; those before stay in force", metadata: ["reason": "\(reason)"])
            }
        }
    }

    /// Counts the purchases of products that the settings name since now.
    private func count(_ ledger: PurchaseLedger) async {
        do {
            try await ledger.countPurchases()
        } catch {
            logger.error(
                "the settings are in force, and some purchases of new products are not counted yet; reload again",
                metadata: ["reason": "\(error)"])
        }
    }

    /// Each error in a line.
    private static func reasons(_ error: any Error) -> [String] {
        switch error {
        case let problems as SettingProblems: problems.problems.map(\.description)
        case let fault as SettingFault: ["\(fault.fault). \(fault.remedy)."]
        case let refusal as LedgerRefusal: [refusal.line]
        default: ["\(error)"]
        }
    }
}

/// The settings of a running server, and the requests to read them again.
public struct SettingsSource: Sendable {
    let read: @Sendable () throws -> ServerConfiguration
    let requests: @Sendable (_ reload: @Sendable () async -> Void) async -> Void

    /// - Parameters:
    ///   - read: reads the settings as the start did, and throws `SettingProblems` if they have errors.
    ///   - requests: calls its argument for each request, until the task is cancelled.
    public init(
        read: @escaping @Sendable () throws -> ServerConfiguration,
        requests: @escaping @Sendable (_ reload: @Sendable () async -> Void) async -> Void
    ) {
        (self.read, self.requests) = (read, requests)
    }
}
