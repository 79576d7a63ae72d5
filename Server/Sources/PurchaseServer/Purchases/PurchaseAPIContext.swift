import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import Synchronization

/// The objects that all routes of `/v1` share.
final class PurchaseAPIContext: Sendable {
    let ledger: TimedLedger
    let bodies: BodyReader
    /// Asks the App Store about claims.
    let desk: AppStoreDesk?
    private let workers: WorkerPool

    /// The number of requests with an idempotency key.
    private let keyed = Atomic(0)
    /// The time for which idempotency keys are remembered, in milliseconds: seven days.
    private static let keyLifetime: Int64 = 7 * 86_400_000
    /// One in this number of requests with a key also deletes old keys.
    private static let keysPerDeletion = 1024

    init(ledger: TimedLedger, bodies: BodyReader, workers: WorkerPool, desk: AppStoreDesk? = nil) {
        self.desk = desk
        self.ledger = ledger
        self.bodies = bodies
        self.workers = workers
    }

    /// Reads a request, off the threads that serve connections.
    ///
    /// - Throws: a problem that describes the first error in it.
    func request<Message: RequestMessage>(_: Message.Type, from body: [UInt8]) async throws -> Message {
        let read = try await workers.run { Message.read(body) }
        // A flaw that names a field of the body says more than the field's name alone.
        if let flaw = read.flaw, flaw.found != nil { throw Problem(flaw) }
        if let unknown = read.unknown.first, !Message.ignoresUnknownMembers { throw Problem(unknown) }
        if let flaw = read.flaw { throw Problem(flaw) }
        return read.message
    }

    /// Verifies evidence, off the threads that serve connections.
    func verify<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await workers.run(work)
    }

    /// The customer into whom a customer was merged; `nil` if they were not.
    func survivor(of customerID: String, app: String) async throws -> String? {
        try await ledger.answer(SurvivorOfCustomer(app: app, customerID: customerID))
    }

    /// The request under its `Idempotency-Key`; `nil` if it has none. It is then done each time it is sent.
    func once(_ request: Request, _ context: ServerContext, _ body: [UInt8]) async throws -> IdempotentRequest? {
        guard let key = try request.idempotencyKey() else { return nil }
        if keyed.add(1, ordering: .relaxed).oldValue % Self.keysPerDeletion == 0 {
            _ = try await ledger.perform(ForgetIdempotencyKeys(age: Self.keyLifetime))
        }
        return IdempotentRequest(
            sender: [context.caller?.key.id ?? ""], key: key, method: request.method.rawValue, path: request.uri.path,
            body: body)
    }
}

/// JSON as it is sent: keys in alphabetical order, so that equal answers are equal bytes.
enum Wire {
    static let contentType = "application/json"

    static func json(_ message: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(message))
    }
}

extension Response {
    static func json(_ message: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: Wire.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try Wire.json(message))))
    }
}

/// The position in a list, as an opaque text.
enum Cursor {
    static func text(_ parts: [String]) -> String {
        Data(parts.joined(separator: "\n").utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func parts(_ text: String) throws -> [String] {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 < 0x80 }) else { throw Problem.cursor }
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64 + padding),
            let joined = String(data: data, encoding: .utf8)
        else { throw Problem.cursor }
        return joined.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}

extension Problem {
    static var cursor: Problem { parameter("cursor", "the next_cursor of an answer") }

    static func parameter(_ name: String, _ expected: String, found: String? = nil) -> Problem {
        Problem(
            .badRequest, DecisionCode.fieldMalformed.rawValue, DecisionCode.fieldMalformed.sentence,
            expected: "\(name): \(expected)", found: found)
    }
}

extension Request {
    /// A parameter of the query, decoded; `nil` if it is absent. `QueryMiddleware` has refused a repeated one.
    ///
    /// Hummingbird's own dictionary hashes every name that was sent, and decodes every value.
    func value(_ name: StaticString) throws -> String? {
        for pair in (uri.query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let key = pair.prefix { $0 != UInt8(ascii: "=") }
            guard key.elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)) else {
                continue
            }
            guard let value = PercentEncoding.decoded(pair.dropFirst(key.count + 1)) else {
                throw Problem.parameter("\(name)", "percent-encoded UTF-8")
            }
            return value
        }
        return nil
    }

    /// One of several words.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: StaticString, _: Choice.Type
    ) throws -> Choice? where Choice.RawValue == String {
        guard let value = try value(name) else { return nil }
        guard let choice = Choice.allCases.first(where: { $0.rawValue.utf8.elementsEqual(value.utf8) }) else {
            throw Problem.parameter("\(name)", Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    func identifier(_ name: StaticString) throws -> String? {
        guard let value = try value(name) else { return nil }
        guard ExactText(value).isIdentifier else {
            throw Problem.parameter("\(name)", "at most \(ExactText.identifierBytes) bytes without control characters")
        }
        return value
    }

    func uuid(_ name: StaticString) throws -> UUID? {
        guard let value = try value(name) else { return nil }
        guard value.utf8.count == 36, let id = UUID(uuidString: value) else {
            throw Problem.parameter("\(name)", "a UUID of 36 characters")
        }
        return id
    }

    func time(_ name: StaticString) throws -> Timestamp? {
        guard let value = try value(name) else { return nil }
        guard value.utf8.count <= 64, let time = Timestamp(value) else {
            throw Problem.parameter("\(name)", "a time such as 2026-11-21T10:00:00Z")
        }
        return time
    }

    /// The environment that the question is about.
    func environment(of app: RegisteredApp) throws -> AppStoreEnvironment? {
        try identifier("environment").map { try EnvironmentName(rawValue: $0).known(to: app) }
    }

    /// The maximum number of entries of a page.
    func limit(default limit: Int = 50) throws -> Int {
        guard let value = try value("limit") else { return limit }
        guard let limit = Int(value), (1...500).contains(limit) else {
            throw Problem.parameter("limit", "a whole number from 1 to 500")
        }
        return limit
    }

    func cursor() throws -> [String]? {
        guard let value = try value("cursor") else { return nil }
        return try Cursor.parts(value)
    }

    /// A cursor that is one number.
    func numberCursor() throws -> Int64? {
        guard let parts = try cursor() else { return nil }
        guard parts.count == 1, let number = Int64(parts[0]) else { throw Problem.cursor }
        return number
    }

    /// The header `Idempotency-Key` of a request that must have one: without it, a repeated request could not be distinguished from
    /// a second one.
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
        if !body.isEmpty, let excess = JSONBounds.excess(of: text.span) {
            var none = RequestMembers(json: [], identifiers: .ledger)
            return ReadRequest(
                message: Self(members: &none),
                flaw: Rejection(.bodyMalformed, expected: excess))
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

extension ServerContext {
    /// An identifier in the path.
    func identifier(_ name: String) throws -> String {
        let raw = try parameters.require(name)
        guard let text = PercentEncoding.decoded(raw.utf8), ExactText(text).isIdentifier else {
            throw Problem.parameter(name, "at most \(ExactText.identifierBytes) bytes without control characters")
        }
        return text
    }
}
