import ArgumentParser
import PurchaseLedger

/// `assay webhooks resend`.
struct ResendEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend", abstract: "Resends events that were given up, or all events since a time.",
        discussion: """
            Events that were given up arrive out of order: the customer's later events were delivered behind a gap. With \
            --since, everything from then on is delivered again in order, for a receiver that lost its data; each event \
            has the same number as before, so a receiver that knows it ignores it.
            """)

    @OptionGroup var webhook: WebhookOptions

    @Option(name: .long, help: "The event, by its number in 'assay webhooks list'. Without it, all.")
    var event: Int64?

    @Option(name: .long, help: "Deliver everything again since this time, such as 2026-11-27T00:00:00Z.")
    var since: Timestamp?

    func validate() throws {
        if event != nil, since != nil { throw ValidationError("--event and --since exclude each other.") }
    }

    func run() async throws {
        try await webhook.options.withLedger { ledger, app in
            if let since {
                let count = try await webhook.change(.resendSince(since), ledger, app)
                return Terminal.write("assay: \(count) events are delivered, from \(since) on\n")
            }
            let count = try await webhook.change(.resend(event: event), ledger, app)
            Terminal.write("assay: \(count) events are sent again\n")
            if count == 0, event != nil { throw ExitCode.rejected }
        }
    }
}
