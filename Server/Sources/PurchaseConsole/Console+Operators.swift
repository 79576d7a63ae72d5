import Foundation
import PurchaseLedger

// The operators, their sessions, and the log of sign-ins.
extension Console {
    func operators(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let (ledger, me) = (ledger(), visit.account.name)
        var values: [String: Any] = [:]
        if request.isPost {
            let (act, name) = (request.form["act"] ?? "", request.form["name"] ?? "")
            if !["end", "end-one"].contains(act) { try visit.require(.admin) }
            var link: OneTimeLink?
            switch act {
            case "end": try await ledger.perform(ChangeSession(.others(than: visit.session.sha256, name: me)))
            case "end-one": try await ledger.perform(ChangeSession(.one(id: request.form["session"] ?? "", name: me)))
            case "add":
                guard let role = OperatorRole(rawValue: request.form["role"] ?? "") else {
                    throw ConsoleVisit.Malformed(text: "No role")
                }
                link = try await ledger.perform(AddOperator(name: name, role: role, by: me))
                if link == nil { throw ConsoleVisit.Malformed(text: "There is an operator with this name") }
            case "link": link = try await ledger.perform(RenewOperatorLink(name: name, by: me))
            case "remove":
                guard name != me else { throw ConsoleVisit.Malformed(text: "You cannot remove yourself") }
                _ = try await ledger.perform(ChangeOperator(name: name, role: nil, by: me))
            default: throw ConsoleVisit.Malformed.act
            }
            // The origin is the address that the browser uses, also before a proxy.
            let origin = request.origin ?? "http://\(request.host ?? "localhost")"
            if let link { values["link"] = "\(origin)/console/link?secret=\(link.text)" }
            values["notice"] = Self.notice(of: act, name)
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
            let isMine = session.sha256 == visit.session.sha256
            return [
                "text": "from \(session.address), since \(session.createdAt), last used \(session.usedAt)"
                    + (isMine ? " (this one)" : ""),
                "session": session.id, "canEnd": !isMine,
            ]
        }
        values["log"] = ConsoleTable.fields(
            "Log", ["Time", "Operator", "What", "By", "Address"],
            activity.log.map { line in
                let times = line.count == 1 ? "" : " (\(line.count) times)"
                return [
                    Cell(line.at), Cell(line.name, style: "state"),
                    Cell(line.act.rawValue.replacing("_", with: " ") + times), Cell(line.by),
                    Cell(line.address),
                ]
            })
        return render("operators", "Operators", visit, values)
    }

    private static func notice(of act: String, _ name: String) -> String {
        switch act {
        case "end": "The other sessions have ended."
        case "end-one": "The session has ended."
        case "add": "The operator \(name) was added."
        case "link": "A new link for \(name) was made; the old password works until it is used."
        default: "The operator \(name) was removed, and their sessions have ended."
        }
    }
}
