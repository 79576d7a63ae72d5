import Foundation
import PurchaseLedger
import PurchaseVerification

// Inspection of evidence, the state of the installation, and the operators.
extension Console {
    func inspect(_ request: ConsoleRequest, _ visit: ConsoleVisit, _ text: String?) async throws -> ConsoleResponse {
        let app = try app(request)
        var values: [String: Any] = ["app": app]
        if let text, !text.isEmpty { values.merge(try await inspection(Array(text.utf8), app)) { $1 } }
        return render("inspect", "Inspect evidence", visit, values)
    }

    /// Each check of evidence; nothing is recorded. It runs on the thread of the hashes, which bounds how many run.
    func inspection(_ evidence: [UInt8], _ app: String) async throws -> [String: Any] {
        let ledger = ledger()
        let inspection = try await passwords.run { ledger.inspect(evidence, app: app) }
        let failure = inspection.firstFailure
        let isComplete = inspection.checks.allSatisfy { if case .passed = $0.outcome { true } else { false } }
        return [
            "inspected": true, "kind": inspection.evidence?.kind?.rawValue ?? "Not recognised.",
            "verdict": isComplete
                ? "Genuine." : failure.map { "\($0.code.sentence) (\($0.code.rawValue))" } ?? "Not verified.",
            "checks": inspection.checks.map(Self.fields), "hasPath": !inspection.certificatePath.isEmpty,
            "path": inspection.certificatePath.map { ["name": $0] },
        ]
    }

    private static func fields(_ check: EvidenceInspection.Check) -> [String: Any] {
        switch check.outcome {
        case .passed: ["name": check.name, "result": "passed", "why": ""]
        case .notPossible: ["name": check.name, "result": "not run", "why": "An earlier check failed."]
        case .failed(let error):
            [
                "name": check.name, "result": "failed",
                "why": [
                    error.code.sentence, error.expected.map { "expected \($0)" }, error.found.map { "found \($0)" },
                ]
                .compactMap(\.self).joined(separator: ", "),
            ]
        }
    }

    func state(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        var notice: String?
        if request.isPost {
            try visit.require(.admin)
            let change: ChangeWebhook.Change = request.form["act"] == "enable" ? .enable : .resend(event: nil)
            let operation = ChangeWebhook(app: try app(request), url: request.form["url"] ?? "", change)
            guard let count = try await ledger().perform(operation) else {
                return message("There is no such webhook", 400)
            }
            notice = request.form["act"] == "enable" ? "The webhook is enabled." : "\(count) events are sent again."
        }
        let readings = try await ledger().answer(LedgerReadings())
        let facts: [(String, String?)] = [
            ("Time", "\(readings.now)"), ("Entries of the record", "\(readings.sealedEntries)"),
            ("Not sealed yet", "\(readings.pending.count)"),
            ("Claims that wait for Apple", "\(readings.waitingClaims.count)"),
        ]
        let isAdmin = visit.account.role >= .admin
        let webhooks = readings.webhooks.map { webhook -> [String: Any] in
            let isEvents = webhook.stream == .events
            let state = webhook.isDisabled ? ", disabled" : ""
            return [
                "url": webhook.url, "app": webhook.app, "isAdmin": isAdmin && isEvents,
                "isDisabled": webhook.isDisabled,
                "text": "\(webhook.app): \(webhook.waiting) wait, \(webhook.givenUp) were given up\(state).",
            ]
        }
        var values: [String: Any] = [
            "facts": Self.facts(facts), "webhooks": webhooks, "hasWebhooks": !webhooks.isEmpty,
        ]
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
        values["notice"] = notice
        return render("state", "State", visit, values)
    }

    /// What was recorded of an app in the last hours.
    private func today(_ app: String, _ now: Timestamp) async throws -> [String: Any] {
        let end = Timestamp(millisecondsSince1970: now.millisecondsSince1970 + 1)
        let counts = try await ledger().answer(HourlyCounts(app: app, from: HourlyBars.start(now), to: end))
        return HourlyBars.fields(counts, now: now)
    }

    func operators(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let (ledger, me) = (ledger(), visit.account.name)
        var values: [String: Any] = [:]
        if request.isPost {
            let (act, name) = (request.form["act"] ?? "", request.form["name"] ?? "")
            if act != "end" { try visit.require(.admin) }
            var link: OneTimeLink?
            switch act {
            case "end": try await ledger.perform(ChangeSession(.others(than: visit.session.sha256, name: me)))
            case "add":
                guard let role = OperatorRole(rawValue: request.form["role"] ?? "") else {
                    return message("No role", 400)
                }
                link = try await ledger.perform(AddOperator(name: name, role: role, by: me))
                if link == nil { return message("There is an operator with this name", 400) }
            case "link": link = try await ledger.perform(RenewOperatorLink(name: name, by: me))
            case "remove":
                guard name != me else { return message("You cannot remove yourself", 400) }
                _ = try await ledger.perform(ChangeOperator(name: name, role: nil, by: me))
            default: return message("There is no such act", 400)
            }
            // The origin is the address that the browser uses, also before a proxy.
            let origin = request.origin ?? "http://\(request.host ?? "localhost")"
            if let link { values["link"] = "\(origin)/console/link?secret=\(link.text)" }
            values["notice"] = "Done: \(act)."
        }
        let activity = try await ledger.answer(OperatorActivity(of: me, limit: 50))
        values["isAdmin"] = visit.account.role >= .admin
        values["operators"] = try await ledger.answer(OperatorList()).map { account -> [String: Any] in
            [
                "name": account.name, "accountRole": account.role.rawValue,
                "state": account.hasPassword ? "may sign in" : "has no password yet",
            ]
        }
        values["sessions"] = activity.sessions.map { session -> [String: Any] in
            let mine = session.sha256 == visit.session.sha256 ? " (this one)" : ""
            return ["text": "from \(session.address), since \(session.createdAt), last used \(session.usedAt)\(mine)"]
        }
        values["log"] = activity.log.map { line -> [String: Any] in
            [
                "at": "\(line.at)", "name": line.name, "act": line.act.rawValue.replacing("_", with: " "),
                "by": line.by ?? "", "address": line.address ?? "",
            ]
        }
        return render("operators", "Operators", visit, values)
    }
}
