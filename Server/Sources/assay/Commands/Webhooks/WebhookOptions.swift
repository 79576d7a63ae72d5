import ArgumentParser
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// The webhook that a command applies to.
struct WebhookOptions: ParsableArguments {
    @OptionGroup var options: OperatorOptions

    @Argument(help: "The URL of the webhook, as in the settings.")
    var url: String

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
                "no server delivered to this URL yet; 'assay webhooks list --app \(app)' lists those that exist"
            )
        }
        return count
    }
}
