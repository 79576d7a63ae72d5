import HTTPTypes
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// A request that was read from a body.
struct ReadRequest<Message: RequestMessage>: Sendable {
    let message: Message
    /// The first error in it.
    var flaw: Rejection?
    /// The first members that it does not have.
    var unknown: [RequestMembers.UnknownMember] = []
}

extension RequestMessage {
    /// Reads a body: its JSON is checked as bytes before any decoder sees it.
    static func read(_ body: [UInt8]) -> ReadRequest<Self> {
        let text = body[...]
        do throws(StrictJSON.Flaw) {
            if !body.isEmpty { try StrictJSON.check(text.span) }
        } catch {
            var none = RequestMembers(json: [], identifiers: .ledger)
            return ReadRequest(
                message: Self(members: &none),
                flaw: Rejection(.bodyMalformed, expected: error.expected))
        }
        var members = RequestMembers(json: body, identifiers: .ledger)
        let message = Self(members: &members)
        var flaw = members.flaw.map(Rejection.init)
        if let name = members.nullMember, !Self.ignoresUnknownMembers {
            let expected = "\(name): a value; leave the member out for the default"
            flaw = flaw ?? Rejection(.fieldMalformed, expected: expected, found: "null")
        }
        if body.isEmpty { flaw?.found = Rejection.emptyBody }
        return ReadRequest(
            message: message, flaw: flaw,
            unknown: members.unknownMembers(limit: PurchaseSubmission.unknownMemberLimit))
    }
}

extension RequestMembers.IdentifierRule {
    fileprivate static let ledger = RequestMembers.IdentifierRule(
        "at most \(ExactText.identifierBytes) bytes without control characters", { ExactText($0).isIdentifier })
}

extension Rejection {
    /// The fact that was found if a request has no body.
    static let emptyBody = "an empty body"

    /// Whether its evidence may have cost more than accepted evidence.
    var isExpensive: Bool {
        if case .verification(let code) = reason { code.isExpensive } else { false }
    }

    /// The sentence, which names both spellings of a misspelled field.
    var detail: String {
        guard case .decision(.fieldMissing) = reason, let expected, let found, found != Self.emptyBody else {
            return sentence
        }
        return "The field '\(found)' is unknown; did you mean '\(expected)'?"
    }

    fileprivate init(_ flaw: RequestMembers.Flaw) {
        switch flaw {
        case .notAnObject(let bytes):
            self.init(.bodyMalformed, expected: "a JSON object", found: "\(bytes) bytes of something else")
        case .missing(let name): self.init(.fieldMissing, expected: name)
        case .misnamed(let sent, let name): self.init(.fieldMissing, expected: name, found: sent)
        case .malformed(let name, let expected): self.init(.fieldMalformed, expected: "\(name): \(expected)")
        }
    }
}

extension Request {
    /// The header `Idempotency-Key` of a request that must have one: without it, a repeated request could not be
    /// distinguished from a second one.
    func requiredIdempotencyKey() throws -> String {
        if let key = try idempotencyKey() { return key }
        throw Problem(
            .badRequest, "idempotency_key_missing",
            "Send the header Idempotency-Key with a text that is new for each intention, and the same in its repeats.",
            expected: "Idempotency-Key: 1 to 255 visible characters of ASCII")
    }

    /// The header `Idempotency-Key`, if it is present.
    func idempotencyKey() throws -> String? {
        guard let name = HTTPField.Name("Idempotency-Key"), let key = headers[name] else { return nil }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem.parameter("Idempotency-Key", "1 to 255 visible characters of ASCII")
        }
        return key
    }
}
