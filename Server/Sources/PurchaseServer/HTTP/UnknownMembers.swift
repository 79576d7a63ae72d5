// Members of a body that the request does not have: a problem, or a warning.

import HTTPTypes
import PurchaseAPI

extension Problem {
    /// A member of a body that the request does not have.
    init(_ member: RequestMembers.UnknownMember) {
        self.init(
            .badRequest, Self.fieldUnknown, member.sentence, expected: member.suggestion, found: member.name)
    }

    fileprivate static let fieldUnknown = "field_unknown"
}

extension WarningMessage {
    /// A member of a body that was ignored.
    init(ignored member: RequestMembers.UnknownMember) {
        self.init(code: Problem.fieldUnknown, detail: member.sentence + " It was ignored.", found: member.name)
    }

    /// The warnings about a request; `nil` if there are none.
    ///
    /// - Parameter counted: the number of refusals that are counted and not recorded one by one.
    static func about(_ members: [RequestMembers.UnknownMember], counted: Int = 0) -> [WarningMessage]? {
        let warnings =
            members.map(WarningMessage.init(ignored:)) + (counted > 0 ? [WarningMessage(counted: counted)] : [])
        return warnings.isEmpty ? nil : warnings
    }

    private init(counted: Int) {
        self.init(
            code: "refusals_counted",
            detail:
                "Today's budget for refused evidence is used up (unverified_evidence), so this refusal has no submission of "
                + "its own: it counts in the next entry of the key's refusals.",
            found: "\(counted)")
    }
}

extension RequestMembers.UnknownMember {
    fileprivate var sentence: String {
        "The field '\(name)' is unknown" + (suggestion.map { "; did you mean '\($0)'?" } ?? ".")
    }
}
