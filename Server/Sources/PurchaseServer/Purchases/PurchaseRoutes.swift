import Foundation
import HTTPTypes
import Hummingbird
import LegacyLedger
import PurchaseAPI
import PurchaseVerification

/// `POST /v1/purchases`, and the purchases that were recorded.
struct PurchaseRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.post("purchases") { request, context in try await submit(request, context) }
        group.get("purchases/:id") { request, context in
            let app = try context.requireCaller(.backend).app
            let id = try context.identifier("id")
            let purchases = try await api.ledger.read { try $0.purchases(id, app: app) }
            guard !purchases.isEmpty else {
                throw Problem(.notFound, "transaction_unknown", "No purchase of this transaction is recorded.")
            }
            return try Response.json(
                TransactionList(purchases: purchases.map(TransactionMessage.init), nextCursor: nil))
        }
        group.get("customers/:id/purchases") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let id = try context.identifier("id")
            let (limit, page) = (try request.limit(), try request.cursor().map(PurchasePage.init(cursor:)))
            let (purchases, next) = try await api.ledger.read {
                try $0.purchases(of: id, app: app, page: page, limit: limit)
            }
            return try Response.json(
                TransactionList(purchases: purchases.map(TransactionMessage.init), nextCursor: next?.cursor))
        }
    }

    /// Verified before the transaction, decided and recorded within it, answered after its commit.
    private func submit(_ request: Request, _ context: ServerContext) async throws -> Response {
        let caller = try context.requireCaller(.client)
        var submission = PurchaseSubmission(app: caller.app, receivedAt: Timestamp(Date()))
        submission.keyID = caller.key.id
        submission.sourceAddress = context.remoteAddress
        var key: String?
        do {
            key = try request.idempotencyKey()
        } catch let problem as Problem {
            // It is a submission all the same, and recorded.
            submission.flaw = Rejection(.fieldMalformed, expected: problem.expected)
        }
        let (blank, name) = (submission, key)
        do {
            return try await api.bodies.withBody(of: request) { body in
                try await record(blank, request, context, body, key: name)
            }
        } catch let fault as BodyFault {
            // Only one that is too large says something about the purchase.
            guard case .tooLarge = fault else { throw fault }
            submission.flaw = submission.flaw ?? fault.rejection
            return try await record(submission, request, context, [], key: key)
        }
    }

    private func record(
        _ submission: PurchaseSubmission, _ request: Request, _ context: ServerContext, _ body: [UInt8], key: String?
    ) async throws -> Response {
        let examined = try await api.examine(submission, body)
        // By what the request names, which the examined submission has.
        let submission = examined.submission
        // All installations of an app share its key, so one customer's idempotency keys must mean nothing to another.
        let sender = [submission.customerID ?? "", submission.orderID ?? ""]
        return try await api.answer(
            request, context, body, key: key, submission: examined, sender: sender
        ) { transaction in
            let outcome = try transaction.record(examined)
            guard outcome.verdict == .accepted, let answer = PurchaseAnswer(outcome, now: transaction.now) else {
                return KeptAnswer(Problem(outcome), submissionID: outcome.submissionID)
            }
            return try KeptAnswer(.ok, answer, submissionID: outcome.submissionID)
        }
    }
}

extension PurchaseSubmission {
    /// Takes over what a body holds, as far as it is what it should be.
    mutating func fill(from body: [UInt8]) {
        let (request, malformed) = PurchaseRequest.read(body)
        let (receipt, signed) = (request.receiptData, request.signedTransaction)
        productID = request.productID.isEmpty ? nil : request.productID
        transactionID = request.transactionID.isEmpty ? nil : request.transactionID
        orderID = request.orderID
        customerID = request.customerID
        quantity = request.quantity
        evidence = (signed ?? receipt).map { Array($0.utf8) }
        flaw =
            flaw ?? malformed
            ?? (signed != nil && receipt != nil
                ? Rejection(.fieldMalformed, expected: PurchaseRequest.oneEvidence) : nil)
    }
}

extension PurchaseAnswer {
    /// The answer to an accepted purchase.
    fileprivate init?(_ outcome: PurchaseOutcome, now: Timestamp) {
        guard let purchase = outcome.purchase else { return nil }
        self.init(
            verdict: SubmissionVerdict(outcome.verdict), code: outcome.code, replayed: outcome.isReplayed,
            submissionID: outcome.submissionID, transaction: TransactionMessage(purchase),
            order: outcome.order.map { OrderMessage($0, now: now) },
            entitlement: outcome.entitlement.map { EntitlementMessage($0, now: now) })
    }
}

extension PurchasePage {
    init(cursor: [String]) throws {
        guard cursor.count == 3, let time = Int64(cursor[0]) else { throw Problem.cursor }
        self.init(
            purchasedAt: Timestamp(millisecondsSince1970: time), environment: cursor[1], transactionID: cursor[2])
    }

    var cursor: String { Cursor.text(["\(purchasedAt.millisecondsSince1970)", environment, transactionID]) }
}
