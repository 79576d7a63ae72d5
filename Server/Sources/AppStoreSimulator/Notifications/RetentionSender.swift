import AsyncHTTPClient
import EvidenceMint
import Foundation
import NIOCore
import NIOHTTP1

/// What the store makes of the answer of a realtime URL.
struct RetentionOutcome: Encodable, Sendable {
    /// The HTTP status; nil without an answer.
    var status: Int?
    /// The time until the answer was complete, in real time.
    var milliseconds = 0
    /// What is shown: `message`, `alternateProduct`, `promotionalOffer` or `advancedCommerceInfo`; nil if the customer
    /// sees the default message.
    var shown: String?
    /// The answer; nil if it is no text.
    var answer: String?
    /// Why nothing is shown, in words.
    var problem: String?
}

/// Asks a realtime URL, and reads its answer as the App Store does: whole within 700 milliseconds, with exactly one of
/// four members.
struct RetentionSender: Sendable {
    private let configuration: HTTPClient.Configuration

    /// Milliseconds (Apple, "Get Retention Message").
    static let usualLimit = 700
    private static let answerBytes = 64 << 10
    private static let members = ["message", "alternateProduct", "promotionalOffer", "advancedCommerceInfo"]

    /// - Parameter sender: its settings of TLS hold here, too.
    init(_ sender: NotificationSender) {
        configuration = sender.configuration
    }

    /// Asks, waits longer than the App Store would, and says what it would show.
    /// - Parameter limit: the time after which an answer is too late.
    func ask(_ question: RetentionRequest, limit: Duration) async throws -> RetentionOutcome {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let start = ContinuousClock.now
        var outcome = RetentionOutcome()
        do {
            var request = HTTPClientRequest(url: question.url)
            request.method = .POST
            request.headers = ["content-type": "application/json", "user-agent": "assay-simulator"]
            let body = ClaimValue.object([Claim("signedPayload", .string(question.signedPayload))]).json
            request.body = .bytes(ByteBuffer(bytes: body))
            let answer = try await client.execute(request, deadline: .now() + .seconds(70))
            outcome.status = Int(answer.status.code)
            outcome.answer = String(buffer: try await answer.body.collect(upTo: Self.answerBytes))
        } catch {
            outcome.problem = "no complete answer: \(NetworkFailure.words(error))"
        }
        try await client.shutdown()
        let elapsed = ContinuousClock.now - start
        outcome.milliseconds = Int((elapsed / .milliseconds(1)).rounded())
        guard outcome.problem == nil else { return outcome }
        guard outcome.status == 200 else {
            outcome.problem = "the HTTP status is not 200"
            return outcome
        }
        guard elapsed <= limit else {
            outcome.problem = "the answer took more than \(limit)"
            return outcome
        }
        let object = outcome.answer.flatMap { APIObject($0.utf8) }
        let named = Self.members.filter { object?.has($0) ?? false }
        guard let object, named.count == 1, let shown = named.first, object.names.count == 1 else {
            outcome.problem = "the answer has not exactly one of \(Self.members.joined(separator: ", "))"
            return outcome
        }
        outcome.shown = shown
        return outcome
    }
}
