import ArgumentParser
import PurchaseLedger

/// `assay webhooks disable`.
struct DisableWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Stops deliveries to a webhook; its events wait until it is enabled.")

    @OptionGroup var webhook: WebhookOptions

    @OptionGroup var reason: ReasonOption

    func run() async throws {
        try await webhook.options.withLedger { ledger, app in
            _ = try await webhook.change(.disable(reason: reason.reason), ledger, app)
            Terminal.write("assay: the webhook is disabled\n")
        }
    }
}
