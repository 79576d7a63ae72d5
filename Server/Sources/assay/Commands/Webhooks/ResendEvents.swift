import ArgumentParser
import PurchaseLedger

/// `assay webhooks resend`.
struct ResendEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend", abstract: "Resends one event, or all events, that were given up.",
        discussion: "They arrive out of order: the customer's later events were delivered behind a gap.")

    @OptionGroup var webhook: WebhookOptions

    @Option(name: .long, help: "The event, by its number in 'assay webhooks list'. Without it, all.")
    var event: Int64?

    func run() async throws {
        try await webhook.options.withLedger { ledger, app in
            let count = try await webhook.change(.resend(event: event), ledger, app)
            Terminal.write("assay: \(count) events are sent again\n")
            if count == 0, event != nil { throw ExitCode.rejected }
        }
    }
}
