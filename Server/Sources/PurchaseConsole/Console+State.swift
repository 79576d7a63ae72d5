import Foundation
import PurchaseLedger
import PurchaseVerification
import TextFormats

// The state of the installation.
extension Console {
    func state(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        var values: [String: Any] = [:]
        if request.isPost {
            try visit.require(.admin)
            if request.form["act"] == "examine" {
                values.merge(await examination()) { $1 }
            } else {
                let stream = (request.form["stream"] ?? "").isEmpty ? nil : request.form["stream"]
                var operation = ChangeWebhook(
                    app: try app(request), stream.map { .notifications(AppStoreEnvironment($0)) } ?? .events,
                    url: request.form["url"] ?? "", try Self.change(request))
                operation.by = (visit.account.name, request.address)
                if case .resendSince(let time) = operation.change, time > surroundings.clock() {
                    throw ConsoleVisit.Malformed(text: "The time is in the future")
                }
                guard let count = try await ledger().perform(operation) else {
                    throw ConsoleVisit.Malformed(text: "There is no such webhook")
                }
                values["notice"] = Self.notice(of: operation.change, count)
            }
        }
        let readings = try await ledger().answer(LedgerReadings())
        let facts: [(String, String?)] =
            [
                ("Time", "\(readings.now)"), ("Entries of the record", "\(readings.sealedEntries)"),
                ("Not sealed yet", Self.words(readings.pending)), ("Last signed checkpoint", try checkpointWords()),
                ("Claims that wait for Apple", "\(readings.waitingClaims.count)"),
            ]
            + readings.heldStripeEvents.map { event in
                (
                    "Held event of Stripe",
                    "\(event.id) of \(event.subscription) in \(event.app) waits for \(event.missing)"
                )
            }
        let isAdmin = visit.account.role >= .admin
        let webhooks = readings.webhooks.map { webhook -> [String: Any] in
            var stream = ""
            if case .notifications(let environment) = webhook.stream { stream = environment.name }
            let isConfigured = !stream.isEmpty || surroundings.hasWebhook(webhook.app, webhook.url)
            let state =
                !isConfigured
                ? "; it is not in the settings, so nothing is delivered"
                : webhook.isDisabled ? "; it is disabled, so nothing is delivered" : ""
            return [
                "url": webhook.url, "app": webhook.app, "isAdmin": isAdmin, "stream": stream,
                "isDisabled": webhook.isDisabled,
                "text":
                    "\(webhook.app)\(stream.isEmpty ? "" : ", notifications of \(stream)"): \(webhook.waiting) wait, \(webhook.givenUp) were given up\(state).",
            ]
        }
        values["facts"] = Self.facts(facts)
        (values["webhooks"], values["hasWebhooks"]) = (webhooks, !webhooks.isEmpty)
        values["canExamine"] = isAdmin && surroundings.tools.examine != nil
        let apps = ledger().apps
        if !apps.isEmpty {
            let chosen = try app(request)
            values["app"] = chosen
            values["today"] = try await today(chosen, readings.now)
            values["otherApps"] = apps.filter { $0 != chosen }.map {
                ["name": $0, "href": "/console/state?app=\(FormFields.encoded($0))"]
            }
            values["hasOtherApps"] = apps.count > 1
        }
        return render("state", "State", visit, values)
    }

    private static func words(_ pending: PendingEntries) -> String {
        pending.oldest.map { "\(pending.count), the oldest of \($0)" } ?? "\(pending.count)"
    }

    /// How far the record is signed: everything before can be proven to anybody.
    private func checkpointWords() throws -> String {
        guard let checkpoint = try surroundings.checkpoint()?.checkpoint else { return "none yet" }
        return
            "\(counted(checkpoint.size, "entry", "entries")) of \(checkpoint.origin); assay audit verify compares every row with them"
    }

    /// What the examination of the installation found.
    private func examination() async -> [String: Any] {
        guard let examine = surroundings.tools.examine else { return [:] }
        let findings = await examine()
        let bad = findings.count { $0.state != "fine" }
        let words = bad == 0 ? "all is fine" : "\(bad) of \(findings.count) \(bad == 1 ? "needs" : "need") a look"
        return [
            "notice": "The installation was examined: \(words).",
            "findings": ConsoleTable.fields(
                "Findings", ["Check", "State", "Found", "What to do"],
                findings.map { finding in
                    let style = ["fine": "state good", "warning": "state warn"][finding.state] ?? "state bad"
                    return [
                        Cell(finding.check.replacing("_", with: " ")),
                        Cell(finding.state, style: style), Cell(finding.found),
                        Cell(finding.action),
                    ]
                }),
        ]
    }

    /// The change that a form asks for.
    private static func change(_ request: ConsoleRequest) throws -> ChangeWebhook.Change {
        switch request.form["act"] {
        case "enable": return .enable
        case "since":
            // A field for dates and times has no zone; the console is in UTC.
            let text = request.form["since"] ?? ""
            let seconds = text.count == 16 ? ":00" : ""
            guard let time = Timestamp(text.hasSuffix("Z") ? text : text + seconds + "Z") else {
                throw ConsoleVisit.Malformed(text: "The time is not one such as 2026-11-27T08:00")
            }
            return .resendSince(time)
        case "resend": return .resend(event: nil)
        default: throw ConsoleVisit.Malformed.act
        }
    }

    private static func notice(of change: ChangeWebhook.Change, _ count: Int) -> String {
        switch change {
        case .enable: "The webhook is enabled."
        case .resendSince(let time):
            "From \(time) on, \(count == WebhookList.behindLimit ? "at least " : "")"
                + "\(counted(count, "event is", "events are")) delivered in order, "
                + "again where delivered before; to a disabled webhook when it is enabled."
        default: "\(counted(count, "event is", "events are")) sent again."
        }
    }

    /// What was recorded of an app in the last hours.
    private func today(_ app: String, _ now: Timestamp) async throws -> [String: Any] {
        let end = Timestamp(millisecondsSince1970: now.millisecondsSince1970 + 1)
        let counts = try await ledger().answer(HourlyCounts(app: app, from: HourlyBars.start(now), to: end))
        return HourlyBars.fields(counts, now: now)
    }
}
