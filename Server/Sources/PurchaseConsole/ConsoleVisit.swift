import Foundation
import PurchaseLedger

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
