import ArgumentParser
import PurchaseLedger
import PurchaseVerification

/// `assay webhooks list`.
struct ListWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Shows the progress of each webhook and forward, and what was given up.")

    @OptionGroup var options: OperatorOptions

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            let webhooks = try await ledger.answer(WebhookList(app: app))
            guard !webhooks.isEmpty else {
                return Terminal.complain("no server delivered events or notifications of this app yet")
            }
            for webhook in webhooks {
                var (heading, what) = (webhook.url, "events")
                if case .notifications(let environment) = webhook.stream {
                    (heading, what) = ("\(webhook.url) (forward \(environment.name))", "notifications")
                }
                let state =
                    webhook.disabledAt.map { "disabled since \($0): \(webhook.disabledReason ?? "")" } ?? "enabled"
                Terminal.write(
                    """
                    \(heading.printable)
                      \(state.printable)
                      cursor \(webhook.cursor), \(webhook.behind) \(what) behind, \(webhook.pending) waiting for a retry, \
                    \(webhook.dead.count) given up

                    """)
                guard !webhook.dead.isEmpty else { continue }
                var table = TextTable([
                    what == "events" ? "EVENT" : "ENTRY", "TYPE", "ATTEMPTS", "FIRST ATTEMPT", "REASON",
                ])
                for event in webhook.dead {
                    table.append([
                        "\(event.event)", event.type.printable, "\(event.attempts)",
                        event.firstAt.map { "\($0)" } ?? "-", (event.lastError ?? "-").printable,
                    ])
                }
                Terminal.write(table.text(indent: 2))
            }
        }
    }
}
