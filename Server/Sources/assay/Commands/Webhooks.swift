import ArgumentParser
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// `assay webhooks`: the state of deliveries.
struct Webhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends events to webhooks again, disables and enables webhooks.",
        discussion: """
            The settings name the webhooks, and under forward: the URLs to which notifications are forwarded; 'assay list \
            webhooks' shows the state of their deliveries, which these commands change in the database. A running server \
            notices each change within seconds.
            """,
        subcommands: [ResendEvents.self, DisableWebhook.self, EnableWebhook.self])
}

/// The webhook that a command applies to.
struct WebhookOptions: ParsableArguments {
    @OptionGroup var options: OperatorOptions

    @Argument(help: "The URL of the webhook, as in the settings.") var url: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The environment, for a URL to which notifications are forwarded (forward: in the settings).",
            valueName: "environment"))
    var forward: String?

    private var stream: WebhookStream {
        forward.map { .notifications(AppStoreEnvironment(anyCase: $0)) } ?? .events
    }

    /// Changes the webhook, if a server ever delivered to it.
    ///
    /// - Returns: how many events are sent again, or 1.
    func change(_ change: ChangeWebhook.Change, _ ledger: PurchaseLedger, _ app: String) async throws -> Int {
        guard let count = try await ledger.perform(ChangeWebhook(app: app, stream, url: url, change)) else {
            throw InputError(
                url,
                "no server delivered to this URL yet; 'assay list webhooks --app \(app)' lists those that exist"
            )
        }
        return count
    }
}

/// `assay webhooks enable`.
struct EnableWebhook: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Delivers to a webhook again, from the event at which deliveries stopped.")

    @OptionGroup var webhook: WebhookOptions

    var options: OperatorOptions { webhook.options }

    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String {
        _ = try await webhook.change(.enable, ledger, app)
        return "assay: the webhook is enabled"
    }
}

/// `assay webhooks disable`.
struct DisableWebhook: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Stops deliveries to a webhook; its events wait until it is enabled.")

    @OptionGroup var webhook: WebhookOptions
    @OptionGroup var reason: ReasonOption

    var options: OperatorOptions { webhook.options }

    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String {
        _ = try await webhook.change(.disable(reason: reason.reason), ledger, app)
        return "assay: the webhook is disabled"
    }
}

/// `assay webhooks resend`.
struct ResendEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend", abstract: "Resends events that were given up, or all events since a time.",
        discussion: """
            Events that were given up arrive out of order: the customer's later events were delivered behind a gap. With \
            --since, everything from then on is delivered again in order, for a receiver that lost its data; each event \
            has the same id as before, so a receiver that knows it ignores it.
            """)

    @OptionGroup var webhook: WebhookOptions

    @Option(help: "The event, by its id in 'assay list webhooks'. Without it, all.") var event: String?
    @Option(help: "Deliver everything again since this time, such as 2026-11-27T00:00:00Z.") var since: Timestamp?

    func validate() throws {
        if event != nil, since != nil { throw ValidationError("--event and --since exclude each other.") }
    }

    func run() async throws {
        try await webhook.options.withLedger { ledger, app in
            if let since {
                let count = try await webhook.change(.resendSince(since), ledger, app)
                return Terminal.write(
                    "assay: \(counted(count, "event is", "events are")) delivered, from \(since) on\n")
            }
            var number: Int64?
            if let event {
                // What was given up of a forward has the number of its entry.
                number = webhook.forward == nil ? try await ledger.event(event, of: app)?.cursor : Int64(event)
                guard number != nil else {
                    throw InputError(
                        event, "is not the id of an event; 'assay list webhooks' shows those that were given up")
                }
            }
            let count = try await webhook.change(.resend(event: number), ledger, app)
            Terminal.write("assay: \(counted(count, "event is", "events are")) sent again\n")
            if count == 0, event != nil { throw ExitCode.rejected }
        }
    }
}
