import Foundation
import HTTPConnections
import Mustache
import PurchaseLedger
import PurchaseVerification

/// The pages for people who answer customers: HTML without script, over the operations of the ledger.
///
/// The caller checks `Host`, passes the requests under `/console`, and adds `ConsoleResponse.securityFields` to each
/// answer.
public final class Console: Sendable {
    let surroundings: ConsoleSurroundings
    private let templates: MustacheLibrary
    private let forms = FormOnce()
    let passwords = PasswordHash()
    /// Not the thread of the passwords: wrong passwords of strangers must not close the pages of those who are signed
    /// in.
    let inspections = BoundedThread()
    let reports = FiguresInMemory()

    /// The rows of a list.
    static let rows = 25

    /// - Throws: if a template is wrong.
    public init(_ surroundings: ConsoleSurroundings) throws {
        self.surroundings = surroundings
        templates = try ConsoleTemplates.library()
    }

    /// The ledger under the settings in force.
    func ledger() -> PurchaseLedger { surroundings.ledger() }

    /// The forms that change something: each acts once.
    private static let actingPages = ["customer", "state", "operators"]

    /// Answers a request.
    public func respond(_ request: ConsoleRequest) async -> ConsoleResponse {
        if request.isPost, !request.isOwnForm { return message("The form is not from this console", 403) }
        return await explained(request, nil) { [self] in
            switch request.path {
            case "style.css":
                return ConsoleResponse(status: 200, contentType: "text/css; charset=utf-8", body: PageStyle.text)
            case "sign-in": return try await signIn(request.withForm)
            case "link": return try await setPassword(request.withForm)
            default: break
            }
            guard let visit = try await visit(request) else {
                return request.isPost
                    ? message("The session has ended; sign in again", 403) : .seeOther("/console/sign-in")
            }
            let request = request.withForm
            guard !request.isPost || visit.hasToken(request) else {
                return message("The form has no valid token; open the page again", 403)
            }
            guard request.isPost, request.form["act"] != "examine", Self.actingPages.contains(request.path),
                request.form["form"] != nil
            else {
                return await shown(request, visit)
            }
            return await forms.answer(visit.session.sha256, request) { await self.shown(request, visit) }
        }
    }

    /// The page, with the visitor's menu also if it cannot be made.
    private func shown(_ request: ConsoleRequest, _ visit: ConsoleVisit) async -> ConsoleResponse {
        await explained(request, visit) { try await self.page(request, visit) }
    }

    /// The answer, or a page that says why there is none: after an act that was refused the page of its form, which has
    /// what was typed.
    private func explained(
        _ request: ConsoleRequest, _ visit: ConsoleVisit?, _ answer: @Sendable () async throws -> ConsoleResponse
    ) async -> ConsoleResponse {
        do {
            return try await answer()
        } catch {
            let (text, status) = words(error)
            if var visit, request.isPost, Self.actingPages.contains(request.path), !(error is ConsoleVisit.Forbidden) {
                visit.failure = text
                do {
                    var answer = try await page(request.again, visit)
                    answer.status = status
                    return answer
                } catch {
                    // A customer who is not known yet has no page.
                }
            }
            return message(text, status, visit)
        }
    }

    /// Why there is no page, and the status of the answer.
    private func words(_ error: any Error) -> (text: String, status: Int) {
        switch error {
        case let refusal as LedgerRefusal: return (refusal.line, 400)
        case is ConsoleVisit.Forbidden: return ("Your role does not permit this", 403)
        case let error as ConsoleVisit.Malformed: return (error.text, 400)
        case is BoundedThread.Busy: return ("Too many sign-ins or inspections at once; try again", 503)
        case is ConsoleVisit.NoApp: return ("The settings have no app; add one under apps", 404)
        case let error as LogError where error.code == .notSealed:
            return ("No signed checkpoint covers the entry yet; try again in a second", 404)
        default: break
        }
        surroundings.onFailure(error)
        return switch error {
        case let error as LedgerStorageError:
            ("The database gave no answer (\(error.kind.rawValue)); try again", 503)
        case let error as LogError:
            ("The record could not be read (\(error.code.rawValue)); run assay audit verify", 503)
        default: ("The page could not be made (console_failed); the log of the server says why", 500)
        }
    }

    private func page(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        switch (request.path, request.isPost) {
        case ("", false): return try await search(request, visit, nil)
        case ("search", false): return try await search(request, visit, request.query["q"])
        case ("search", true):
            // What was found has an address; evidence is too long for one.
            let text = request.form["q"] ?? ""
            guard text.utf8.count <= Self.longestName else { return try await search(request, visit, text) }
            let query = "app=\(FormFields.encoded(try app(request)))&q=\(FormFields.encoded(text))"
            return .seeOther("/console/search?\(query)")
        case ("customer", false): return try await customer(request, visit)
        case ("customer", true): return try await act(request, visit)
        case ("purchase", false): return try await purchase(request, visit)
        case ("pack", false): return try await pack(request, visit)
        case ("claim", false): return try await submission(request, visit)
        case ("figures", false): return try await figures(request, visit)
        case ("external", false): return try await externalPurchases(request, visit)
        case ("proof", false): return try await proof(request, visit)
        case ("inspect", _): return try await inspect(request, visit)
        case ("state", _): return try await state(request, visit)
        case ("operators", _): return try await operators(request, visit)
        case ("sign-out", true): return try await signOut(request, visit)
        default: return message("There is no such page", 404, visit)
        }
    }

    /// Renders a page.
    func render(
        _ template: String, _ title: String, _ visit: ConsoleVisit?, _ values: [String: Any], status: Int = 200
    ) -> ConsoleResponse {
        var values = values
        values["title"] = title
        values["shop"] = shop
        if let visit {
            if let failure = visit.failure { values["error"] = failure + "." }
            values["operator"] = visit.account.name
            values["role"] = visit.account.role.rawValue
            values["token"] = visit.formToken
            values["store"] = surroundings.tools.store
            values["external"] = (values["app"] as? String).map { "?app=\(FormFields.encoded($0))" } ?? ""
            // Of each form of the page only one is sent, so one number serves them all.
            values["form"] = UUID().uuidString
        }
        return .page(templates.render(values, withTemplate: template) ?? "", status: status)
    }

    func message(_ text: String, _ status: Int, _ visit: ConsoleVisit? = nil) -> ConsoleResponse {
        render("message", "Not done", visit, ["error": text + "."], status: status)
    }

    /// The apps whose purchases the pages show.
    private var shop: String {
        let apps = ledger().apps
        return apps.prefix(3).joined(separator: ", ") + (apps.count > 3 ? " and \(apps.count - 3) more" : "")
    }

    /// The app that a request names; the first one if it names none.
    func app(_ request: ConsoleRequest) throws -> String {
        let apps = ledger().apps
        guard let named = request.form["app"] ?? request.query["app"], !named.isEmpty else {
            guard let first = apps.first else { throw ConsoleVisit.NoApp() }
            return first
        }
        guard apps.contains(named) else { throw ConsoleVisit.Malformed(text: "The settings have no app \(named)") }
        return named
    }

    /// The address of a page about something.
    static func address(_ page: String, app: String, _ id: String, _ more: [(String, String)] = []) -> String {
        (["/console/\(page)?app=\(FormFields.encoded(app))&id=\(FormFields.encoded(id))"]
            + more.map { "\($0.0)=\(FormFields.encoded($0.1))" }).joined(separator: "&")
    }
}

/// An operator who is signed in.
struct ConsoleVisit: Sendable {
    let account: OperatorAccount
    let session: OperatorSession
    /// The token of the forms of the session.
    let formToken: String
    /// Why the act was refused whose page is shown again.
    var failure: String?

    /// The role does not permit the act.
    struct Forbidden: Error {}

    /// A field of a form has no possible value.
    struct Malformed: Error {
        let text: String

        static let act = Malformed(text: "There is no such act")
    }

    /// The settings have no app.
    struct NoApp: Error {}

    func require(_ role: OperatorRole) throws {
        guard account.role >= role else { throw Forbidden() }
    }

    func hasToken(_ request: ConsoleRequest) -> Bool {
        PasswordHash.isEqual(Data((request.form["token"] ?? "").utf8), Data(formToken.utf8))
    }

    /// The reason of an act with the name of the operator, as it is recorded in the journal.
    func recorded(_ reason: String) -> String { "\(account.name) in the console: \(reason)" }
}
