import Crypto
import Foundation
import PurchaseLedger

// Sessions: who is signed in, signing in and out, and the link that sets a password.
extension Console {
    /// The operator of the session; `nil` if nobody is signed in.
    func visit(_ request: ConsoleRequest) async throws -> ConsoleVisit? {
        guard let secret = SessionCookie.secret(request),
            let found = try await ledger().answer(OperatorOfSession(secret.sha256))
        else { return nil }
        if found.isUseStale { try await ledger().perform(ChangeSession(.used(secret.sha256))) }
        return ConsoleVisit(
            account: found.account, session: found.session, formToken: SessionCookie.formToken(secret))
    }

    func signIn(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        guard request.isPost else { return render("sign-in", "Sign in", nil, [:]) }
        let (name, password) = (request.form["name"] ?? "", request.form["password"] ?? "")
        guard name.utf8.count <= 64, password.utf8.count <= PasswordHash.longest else { return refused("") }
        let stored = try await ledger().answer(OperatorPassword(of: name))
        guard !stored.isLocked else {
            _ = try await ledger().perform(SignInOperator(name: name, address: request.address, check: .locked))
            return refused(" Sign-ins under this name wait after several wrong passwords.")
        }
        guard try await passwords.matches(password, stored.password), let hash = stored.password else {
            _ = try await ledger().perform(SignInOperator(name: name, address: request.address, check: .wrong))
            return refused("")
        }
        return try await begin(name, hash, request) ?? refused("")
    }

    /// Begins a session of an operator whose password is right.
    ///
    /// - Returns: `nil` if the password was changed, or the operator locked or removed, meanwhile.
    private func begin(_ name: String, _ hash: String, _ request: ConsoleRequest) async throws -> ConsoleResponse? {
        let secret = OneTimeLink.random()
        let check = SignInOperator.PasswordCheck.right(password: hash, session: secret.sha256)
        guard try await ledger().perform(SignInOperator(name: name, address: request.address, check: check)) else {
            return nil
        }
        var response = ConsoleResponse.seeOther("/console")
        response.cookie = SessionCookie.text(secret, isSecure: request.isSecure)
        return response
    }

    func signOut(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let change = ChangeSession.Change.signedOut(
            visit.session.sha256, name: visit.account.name, address: request.address)
        try await ledger().perform(ChangeSession(change))
        var response = ConsoleResponse.seeOther("/console/sign-in")
        response.cookie = SessionCookie.ended(isSecure: request.isSecure)
        return response
    }

    func setPassword(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let text = (request.isPost ? request.form : request.query)["secret"] ?? ""
        guard let link = OneTimeLink(sent: text), let account = try await ledger().answer(OperatorOfLink(link)) else {
            return message("The link does not work, or no longer; ask for a new one", 403)
        }
        let values: [String: Any] = ["name": account.name, "secret": text, "shortest": PasswordHash.shortest]
        guard request.isPost else { return render("link", "Set a password", nil, values) }
        let password = request.form["password"] ?? ""
        guard password.count >= PasswordHash.shortest, password.utf8.count <= PasswordHash.longest,
            password == request.form["again"]
        else {
            let error = "The password is shorter than \(PasswordHash.shortest) characters, or the two differ."
            return render(
                "link", "Set a password", nil, values.merging(["error": error]) { $1 }, status: 400)
        }
        let hash = try await passwords.hash(password)
        let set = SetOperatorPassword(link: link, password: hash, address: request.address)
        guard let account = try await ledger().perform(set) else {
            return message("The link does not work any more", 403)
        }
        return try await begin(account.name, hash, request) ?? .seeOther("/console/sign-in")
    }

    private func refused(_ more: String) -> ConsoleResponse {
        render("sign-in", "Sign in", nil, ["error": "The name or the password is wrong." + more], status: 403)
    }
}

/// The cookie of a session, and the token of its forms.
enum SessionCookie {
    private static func name(isSecure: Bool) -> String { isSecure ? "__Host-assay_console" : "assay_console" }

    static func text(_ secret: OneTimeLink, isSecure: Bool) -> String {
        "\(name(isSecure: isSecure))=\(secret.text); Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    /// A cookie that ends the session in the browser.
    static func ended(isSecure: Bool) -> String {
        "\(name(isSecure: isSecure))=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0" + (isSecure ? "; Secure" : "")
    }

    static func secret(_ request: ConsoleRequest) -> OneTimeLink? {
        let prefix = name(isSecure: request.isSecure) + "="
        for cookie in (request.cookies ?? "").split(separator: ";") {
            let cookie = cookie.trimmingCharacters(in: .whitespaces)
            if cookie.hasPrefix(prefix) { return OneTimeLink(sent: String(cookie.dropFirst(prefix.count))) }
        }
        return nil
    }

    /// The token that a form sends back. It is derived from the secret of the session, so another site cannot know it.
    static func formToken(_ secret: OneTimeLink) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("form of the console".utf8), using: SymmetricKey(data: Data(secret.text.utf8)))
        return Data(code).base64EncodedString()
    }
}

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
