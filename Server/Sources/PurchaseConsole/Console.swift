import Foundation
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
        return await explained { [self] in
            switch request.path {
            case "style.css":
                return ConsoleResponse(status: 200, contentType: "text/css; charset=utf-8", body: ConsoleStyle.text)
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
                return try await page(request, visit)
            }
            return await forms.answer(visit.session.sha256, request) {
                await self.explained { try await self.page(request, visit) }
            }
        }
    }

    /// The answer, or a page that says why there is none.
    private func explained(_ answer: @Sendable () async throws -> ConsoleResponse) async -> ConsoleResponse {
        let onFailure = surroundings.onFailure
        do {
            return try await answer()
        } catch let refusal as LedgerRefusal {
            return message(refusal.line, 400)
        } catch is ConsoleVisit.Forbidden {
            return message("Your role does not permit this", 403)
        } catch let error as ConsoleVisit.Malformed {
            return message(error.text, 400)
        } catch is BoundedThread.Busy {
            return message("Too many sign-ins or inspections at once; try again", 503)
        } catch is ConsoleVisit.NoApp {
            return message("The settings have no app; add one under apps", 404)
        } catch let error as LedgerStorageError {
            onFailure(error)
            return message("The database gave no answer (\(error.kind.rawValue)); try again", 503)
        } catch let error as LogError where error.code == .notSealed {
            return message("No signed checkpoint covers the entry yet; try again in a second", 404)
        } catch let error as LogError {
            onFailure(error)
            return message("The record could not be read (\(error.code.rawValue)); run assay audit verify", 503)
        } catch {
            onFailure(error)
            return message("The page could not be made (console_failed); the log of the server says why", 500)
        }
    }

    private func page(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        switch (request.path, request.isPost) {
        case ("", false): return try await search(request, visit, nil)
        case ("search", _):
            return try await search(request, visit, (request.isPost ? request.form : request.query)["q"])
        case ("customer", false): return try await customer(request, visit)
        case ("customer", true): return try await act(request, visit)
        case ("purchase", false): return try await purchase(request, visit)
        case ("pack", false): return try await pack(request)
        case ("claim", false): return try await submission(request, visit)
        case ("proof", false): return try await proof(request)
        case ("inspect", _): return try await inspect(request, visit)
        case ("state", _): return try await state(request, visit)
        case ("operators", _): return try await operators(request, visit)
        case ("sign-out", true): return try await signOut(request, visit)
        default: return message("There is no such page", 404)
        }
    }

    /// Renders a page.
    func render(
        _ template: String, _ title: String, _ visit: ConsoleVisit?, _ values: [String: Any], status: Int = 200
    ) -> ConsoleResponse {
        var values = values
        values["title"] = title
        if let visit {
            values["operator"] = visit.account.name
            values["role"] = visit.account.role.rawValue
            values["token"] = visit.formToken
            values["store"] = surroundings.tools.store
            // Of each form of the page only one is sent, so one number serves them all.
            values["form"] = UUID().uuidString
        }
        return .page(templates.render(values, withTemplate: template) ?? "", status: status)
    }

    func message(_ text: String, _ status: Int) -> ConsoleResponse {
        render("message", "Not done", nil, ["error": text + "."], status: status)
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

    /// The role does not permit the act.
    struct Forbidden: Error {}

    /// A field of a form has no possible value.
    struct Malformed: Error {
        let text: String
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
