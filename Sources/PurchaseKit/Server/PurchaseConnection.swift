import Foundation
import PurchaseMessages

/// The connection to the purchase server. It returns only answers that a pinned key signed for this very request.
public struct PurchaseConnection: Sendable {
    private let service: any PurchaseService
    private let key: String
    let answerKeys: AnswerKeys
    /// A token that the app's backend got for a customer (`POST /v1/customers/{id}/tokens`).
    public typealias CustomerToken = @Sendable (_ customerID: String) async throws -> String?
    let customerToken: CustomerToken?

    /// - Parameters:
    ///   - service: carries requests to the server.
    ///   - key: an API key with the scope `client`. It can be extracted from the app, so it may only submit and
    ///     restore.
    ///   - answerKeys: the keys of the server's answers.
    ///   - customerToken: asks your backend for a token, with which the app reads what a customer has without evidence,
    ///     such as a grant by support; `nil` for none. A guest needs none.
    public init(
        service: any PurchaseService, key: String, answerKeys: AnswerKeys, customerToken: CustomerToken? = nil
    ) {
        (self.service, self.key, self.answerKeys, self.customerToken) = (service, key, answerKeys, customerToken)
    }

    enum Decision<Answer: Sendable>: Sendable {
        /// An answer, and when the server signed it, by its own clock.
        case accepted(Answer, Date)
        /// An error, and the pause in seconds that the server asks for.
        case problem(ProblemDocument, retryAfter: Double?)
    }

    /// Claims one purchase.
    ///
    /// - Throws: `PurchaseError`; the purchase is then undetermined.
    func submit(_ request: PurchaseRequest) async throws -> Decision<PurchaseAnswer> {
        let fields = [
            ("product_id", request.productID), ("transaction_id", request.transactionID),
            ("order_id or customer_id", request.orderID ?? request.customerID ?? ""),
            ("receipt_data or signed_transaction", request.receiptData ?? request.signedTransaction ?? ""),
        ]
        try Self.require(fields + [("order_id", request.orderID ?? " "), ("customer_id", request.customerID ?? " ")])
        let decision: Decision<PurchaseAnswer> = try await send("POST", "/v1/purchases", try Self.json(request))
        if case .accepted(let answer, _) = decision { try Self.compare(answer, with: request) }
        return decision
    }

    /// Sends evidence for a restore: the customer gets every purchase in it that is theirs.
    ///
    /// - Throws: `PurchaseError`; nothing is then known about the purchases.
    func restore(_ request: RestoreRequest) async throws -> Decision<RestoreAnswer> {
        let evidence = request.receiptData ?? (request.signedTransactions?.isEmpty == false ? " " : "")
        try Self.require([("customer_id", request.customerID), ("receipt_data or signed_transactions", evidence)])
        let decision: Decision<RestoreAnswer> = try await send("POST", "/v1/restores", try Self.json(request))
        if case .accepted(let answer, _) = decision, !Self.isSame(answer.customerID, request.customerID) {
            throw PurchaseError(.answerMismatch, expected: request.customerID, found: answer.customerID)
        }
        return decision
    }

    /// Asks for everything that a customer has.
    ///
    /// - Parameter name: a token of the customer, or the id of a guest.
    func account(of customerID: String, _ name: String) async throws -> Decision<EntitlementList> {
        try await own("entitlements", \.customerID, customerID, name)
    }

    /// Asks for one of the answers about a customer that an app may read.
    func own<Answer: Codable & Sendable>(
        _ what: String, _ named: (Answer) -> String, _ customerID: String, _ name: String
    ) async throws -> Decision<Answer> {
        let decision: Decision<Answer> = try await send(
            "GET", "/v1/me/\(what)", [], [EntitlementList.customerHeader.lowercased(): name])
        if case .accepted(let answer, _) = decision, !Self.isSame(named(answer), customerID) {
            throw PurchaseError(.answerMismatch, expected: customerID, found: named(answer))
        }
        return decision
    }

    private static func json(_ message: some Encodable) throws -> [UInt8] {
        do {
            return [UInt8](try JSONEncoder().encode(message))
        } catch {
            throw PurchaseError(.requestNotSerialised, error)
        }
    }

    private func send<Answer: Codable & Sendable>(
        _ method: String, _ path: String, _ body: [UInt8], _ more: [String: String] = [:]
    ) async throws -> Decision<Answer> {
        let nonce = Self.nonce()
        let digest = ContentDigest.text(sha256: body.sha256)
        let request = ServiceRequest(
            method: method, path: path,
            headers: more.merging([
                "authorization": "Bearer \(key)", "content-type": "application/json", "accept-encoding": "identity",
                "cache-control": "no-store", "content-digest": digest,
                "accept-signature": AnswerSignature.Wanted(label: ServiceAnswer.signatureLabel, nonce: nonce).text,
            ]) { $1 }, body: body)
        let answer: ServiceAnswer
        do {
            answer = try await service.send(request)
        } catch {
            throw PurchaseError(.connectionFailed, error)
        }
        let signedAt = Date(
            timeIntervalSince1970: Double(
                try answer.verify(answerKeys, request, requestDigest: digest, nonce: nonce)))
        let body = Data(answer.body)
        do {
            guard answer.status == 200 else {
                return .problem(
                    try JSONDecoder().decode(ProblemDocument.self, from: body),
                    retryAfter: answer.headers["retry-after"].flatMap { Int($0) }.map { Double($0) })
            }
            return .accepted(try JSONDecoder().decode(Answer.self, from: body), signedAt)
        } catch {
            throw PurchaseError(.answerMalformed, error)
        }
    }

    /// 32 random bytes, new for each attempt.
    private static func nonce() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<AnswerSignature.nonceBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return Data(bytes).base64EncodedString()
    }

    private static func require(_ fields: [(name: String, value: String)]) throws {
        for (name, value) in fields where value.isEmpty { throw PurchaseError(.fieldMissing, expected: name) }
    }

    /// Checks that the answer belongs to the question. The signature proves it; this finds errors of the server.
    private static func compare(_ answer: PurchaseAnswer, with request: PurchaseRequest) throws {
        let transaction = answer.transaction
        let pairs = [
            (request.transactionID, transaction.transactionID), (request.productID, transaction.productID),
            (request.customerID, transaction.customerID), (request.orderID, answer.order?.orderID),
        ]
        for (expected, found) in pairs {
            guard let expected, !isSame(expected, found ?? "") else { continue }
            throw PurchaseError(.answerMismatch, expected: expected, found: found ?? "nothing")
        }
    }

    private static func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}
