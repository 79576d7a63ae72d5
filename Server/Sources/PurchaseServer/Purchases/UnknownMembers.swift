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
    static func about(_ members: [RequestMembers.UnknownMember]) -> [WarningMessage]? {
        members.isEmpty ? nil : members.map(WarningMessage.init(ignored:))
    }
}

extension RequestMembers.UnknownMember {
    fileprivate var sentence: String {
        "The field '\(name)' is unknown" + (suggestion.map { "; did you mean '\($0)'?" } ?? ".")
    }
}
