import Foundation
import Mustache
public import PurchaseLedger
public import PurchaseVerification

/// The pages for people who answer customers: HTML without script, over the operations of the ledger.
///
/// The caller passes the requests under `/console`, and adds `ConsoleResponse.securityFields` to each answer.
public final class Console: Sendable {
    /// The ledger under the settings in force.
    let ledger: @Sendable () -> PurchaseLedger
    let clock: @Sendable () -> Timestamp
    /// The checkpoint that the server signed last.
    let checkpoint: @Sendable () throws -> SignedCheckpoint?
    /// Called with an error that the pages do not explain in full.
    private let onFailure: @Sendable (any Error) -> Void
    private let hosts: HostCheck
    /// The address of the simulated App Store that the server belongs to.
    private let store: String?
    private let templates: MustacheLibrary
    let passwords = PasswordHash()

    /// The rows of a list.
    static let rows = 25

    /// - Parameters:
    ///   - ledger: the ledger under the settings in force.
    ///   - clock: the ledger's clock.
    ///   - checkpoint: the checkpoint that the server signed last; `nil` if there is none yet.
    ///   - host: the host of the listener; `nil` for a socket.
    ///   - onFailure: called with an error that the pages do not explain in full, to log it.
    ///   - store: the address of the simulated App Store, to which the pages link; `nil` for Apple's.
    /// - Throws: if a template is wrong.
    public init(
        ledger: @escaping @Sendable () -> PurchaseLedger, clock: @escaping @Sendable () -> Timestamp,
        checkpoint: @escaping @Sendable () throws -> SignedCheckpoint?, host: String?,
        onFailure: @escaping @Sendable (any Error) -> Void, store: String? = nil
    ) throws {
        (self.ledger, self.clock, self.checkpoint) = (ledger, clock, checkpoint)
        self.onFailure = onFailure
        hosts = HostCheck(listener: host)
        self.store = store
        templates = try ConsoleTemplates.library()
    }

    /// Answers a request.
    public func respond(_ request: ConsoleRequest) async -> ConsoleResponse {
        guard hosts.accepts(request.host) else {
            return message("The host is not one of the console; use its address or localhost", 421)
        }
        if request.isPost, !hosts.isOwnForm(request) { return message("The form is not from this console", 403) }
        do {
            switch request.path {
            case "style.css":
                return ConsoleResponse(status: 200, contentType: "text/css; charset=utf-8", body: ConsoleStyle.text)
            case "sign-in": return try await signIn(request)
            case "link": return try await setPassword(request)
            default: break
            }
            guard let visit = try await visit(request) else {
                return request.isPost
                    ? message("The session has ended; sign in again", 403) : .seeOther("/console/sign-in")
            }
            guard !request.isPost || visit.hasToken(request) else {
                return message("The form has no valid token; open the page again", 403)
            }
            return try await page(request, visit)
        } catch let refusal as LedgerRefusal {
            return message(refusal.line, 400)
        } catch is ConsoleVisit.Forbidden {
            return message("Your role does not permit this", 403)
        } catch is PasswordHash.Busy {
            return message("Too many sign-ins at once; try again", 503)
        } catch is ConsoleVisit.NoApp {
            return message("The settings have no app; add one under apps", 404)
        } catch let error as LedgerStorageError {
            onFailure(error)
            return message("The database gave no answer (\(error.kind.rawValue)); try again", 503)
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
        case ("inspect", _): return try await inspect(request, visit, request.form["evidence"])
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
            values["store"] = store
        }
        return .page(templates.render(values, withTemplate: template) ?? "", status: status)
    }

    func message(_ text: String, _ status: Int) -> ConsoleResponse {
        render("message", "Not done", nil, ["error": text + "."], status: status)
    }

    /// The app that a request names, else the first one.
    func app(_ request: ConsoleRequest) throws -> String {
        let (apps, named) = (ledger().apps, request.form["app"] ?? request.query["app"])
        guard let app = apps.first(where: { $0 == named }) ?? apps.first else { throw ConsoleVisit.NoApp() }
        return app
    }

    /// The address of a page about something.
    static func address(_ page: String, app: String, _ id: String, _ more: [(String, String)] = []) -> String {
        (["/console/\(page)?app=\(FormFields.encoded(app))&id=\(FormFields.encoded(id))"]
            + more.map { "\($0.0)=\(FormFields.encoded($0.1))" }).joined(separator: "&")
    }
}
