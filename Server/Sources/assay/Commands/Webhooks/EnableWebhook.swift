import ArgumentParser
import PurchaseLedger

/// `assay webhooks enable`.
struct EnableWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Delivers to a webhook again, from the event at which deliveries stopped.")

    @OptionGroup var webhook: WebhookOptions

    func run() async throws {
        try await webhook.options.withLedger { ledger, app in
            _ = try await webhook.change(.enable, ledger, app)
            Terminal.write("assay: the webhook is enabled\n")
        }
    }
}
