import ArgumentParser

/// `assay webhooks`: the state of deliveries.
struct Webhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the webhooks and forwards of an app, sends events again, disables and enables webhooks.",
        discussion: """
            The settings name the webhooks, and under forward: the URLs to which notifications are forwarded; these commands show and change the state of their deliveries in the database. A running \
            server notices each change within seconds.
            """,
        subcommands: [ListWebhooks.self, ResendEvents.self, DisableWebhook.self, EnableWebhook.self])
}
