import ArgumentParser
import Logging
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// Reads the settings again when SIGHUP asks for it. Settings with an error change nothing, and the error is logged.
struct SettingsReload: Sendable {
    let server: ReloadableServer
    let webhooks: WebhookDispatcher
    let ledger: PurchaseLedger
    /// The settings at the start, for the settings that only a restart changes.
    let started: ServerConfiguration
    let logger: Logger
    /// Reads the settings as the start did.
    let read: @Sendable () throws -> ServerConfiguration

    func run() async {
        do {
            let configuration = try read()
            let apps = configuration.apps.values.sorted { $0.id < $1.id }
            let ledger = try await ledger.underSettings(
                apps: apps, verifier: PurchaseVerifier(anchors: configuration.anchors))
            server.replaceSettings(by: configuration, ledger: ledger)
            webhooks.deliver(to: configuration.webhooks, from: ledger)
            for setting in configuration.settingsThatNeedRestart(comparedWith: started) {
                logger.warning(
                    "a setting differs from the running server's and takes a restart",
                    metadata: ["setting": "\(setting.name)"])
            }
            try await Serve.warn(apps, ledger, logger)
            logger.notice(
                "settings reloaded",
                metadata: [
                    "apps": .stringConvertible(apps.count),
                    "webhooks": .stringConvertible(configuration.webhooks.count),
                ])
        } catch {
            for reason in Self.reasons(error) {
                logger.error(
                    "the settings were not reloaded; those before stay in force", metadata: ["reason": "\(reason)"])
            }
        }
    }

    /// Each error in a line.
    private static func reasons(_ error: any Error) -> [String] {
        switch error {
        case let problems as SettingsFile.Problems: problems.problems.map { "\($0)".printable }
        case let error as ValidationError: [error.message.printable]
        case let refusal as LedgerRefusal: [refusal.line.printable]
        default: ["\(error)".printable]
        }
    }
}
