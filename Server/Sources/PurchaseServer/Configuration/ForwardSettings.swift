import PurchaseLedger
import PurchaseVerification
import Yams

extension SettingsReader {
    /// The URLs to which notifications of an app are forwarded, by environment.
    mutating func forwards(_ section: inout SettingsSection, of app: RegisteredApp) -> [WebhookSettings] {
        guard let entry = section.take("forward") else { return [] }
        let section = self.section(entry.value, "forward of \(app.id)")
        var forwards: [WebhookSettings] = []
        for entry in section.entries {
            let environment = AppStoreEnvironment(anyCase: entry.key)
            guard app.environments.contains(environment) else {
                note(
                    entry.line, "forward of \(app.id) names '\(entry.key)', which is not among its environments",
                    "Write one of \(app.environments.map(\.name).sorted().joined(separator: ", ")), or add it to environments"
                )
                continue
            }
            guard entry.value.null == nil,
                let nodes = entry.value.sequence.map(Array.init) ?? entry.value.scalar.map({ _ in [entry.value] })
            else {
                note(
                    entry.line, "forward of \(app.id) for \(environment.name) is neither a URL nor a list",
                    "Write \(entry.key): [https://HOST/PATH]")
                continue
            }
            for node in nodes {
                guard let forward = forward(node, .notifications(environment), of: app.id) else { continue }
                if forwards.contains(where: { $0.url.isSame(as: forward.url) && $0.stream == forward.stream }) {
                    note(
                        node.mark?.line, "two forwards of \(app.id) for \(environment.name) have the same url",
                        "Keep one")
                }
                forwards.append(forward)
            }
        }
        return forwards
    }

    /// A URL, or a mapping with one.
    private mutating func forward(_ node: Node, _ stream: WebhookStream, of app: String) -> WebhookSettings? {
        let line = node.mark?.line
        var text = node.null == nil ? node.scalar?.string : nil
        var (allowed, trust): (Set<String>, String?) = ([], nil)
        if text == nil {
            var section = section(node, "forward of \(app)")
            text = self.text(&section, "url")
            (allowed, trust) = exceptions(&section)
            finish(section)
        }
        guard let text, let url = WebhookURL(text) else {
            // The URL is not repeated: it can have a secret in it.
            note(
                line, "a forward of \(app) has no url that notifications can be sent to",
                "Write https://HOST/PATH, or url: https://HOST/PATH, without user, password and fragment")
            return nil
        }
        if !url.isHTTPS, !allowed.contains(url.host) {
            note(
                line, "the url of a forward of \(app) begins with http",
                "Write https, or { url: …, allow_hosts: [\(url.host)] } if nobody can read what is sent there")
        }
        let settings = WebhookSettings(stream: stream, url: url, secrets: [], allowedHosts: allowed, trust: trust)
        check(settings, app: app, line)
        return settings
    }
}
