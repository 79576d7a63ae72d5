import Foundation
import HTTPTypes
import Hummingbird
import PurchaseAPI
import PurchaseLedger

/// `POST /v1/purchases`, and the purchases that were recorded.
struct PurchaseRoutes {
    let api: PurchaseAPIContext

    /// The owners whose purchases are listed. Those of a customer have a list of their own.
    private enum OwnerFilter: String, CaseIterable {
        case nobody = "none"
    }

    func add(to group: RouterGroup<ServerContext>) {
        group.post("purchases") { request, context in try await submit(request, context) }
        group.get("purchases") { request, context in
            let app = try context.requireCaller(.backend).app
            guard try request.choice("owner", OwnerFilter.self) != nil else {
                throw Problem.parameter("owner", OwnerFilter.nobody.rawValue)
            }
            let filter = HeldPurchaseFilter(
                environment: try request.environment(of: app), productID: try request.identifier("product_id"))
            let page = try await api.page(of: HeldPurchases(app: app.id, filter: filter), request)
            return try Response.json(TransactionPage(page))
        }
        group.get("purchases/:id") { _, context in
            let app = try context.requireCaller(.backend).app.id
            let id = try context.identifier("id")
            let purchases = try await api.ledger.answer(PurchasesOfTransaction(app: app, transactionID: id))
            guard !purchases.isEmpty else {
                throw Problem(.notFound, "transaction_unknown", "No purchase of this transaction is recorded.")
            }
            return try Response.json(
                TransactionPage(purchases: purchases.map { TransactionMessage($0) }))
        }
    }

    /// Verified before the transaction, decided and recorded within it, answered after its commit. A claim is
    /// idempotent by its transaction, so an `Idempotency-Key` is accepted and changes nothing.
    private func submit(_ request: Request, _ context: ServerContext) async throws -> Response {
        let caller = try context.requireCaller(.client)
        var submission = PurchaseSubmission(app: caller.app.id)
        submission.keyID = caller.key.id
        submission.sourceAddress = context.remoteAddress
        do {
            _ = try request.idempotencyKey()
        } catch let problem as Problem {
            // It is still a submission, and is recorded.
            submission.flaw = Rejection(.fieldMalformed, expected: problem.expected)
        }
        let blank = submission
        let examined: ExaminedSubmission
        var unknown: [RequestMembers.UnknownMember] = []
        var claim: PurchaseRequest?
        do {
            (examined, unknown, claim) = try await api.bodies.withBody(of: request) { body in
                try await examine(blank, body, context)
            }
        } catch let fault as BodyFault {
            // Only a body that is too large says something about the purchase.
            guard case .tooLarge = fault else { throw fault }
            submission.flaw = submission.flaw ?? fault.rejection
            (examined, _, _) = try await examine(submission, [], context)
        }
        // The body is no longer held here: a claim can wait for the App Store.
        let outcome = try await api.claim(examined)
        let warnings = WarningMessage.about(unknown, counted: outcome.isCounted ? 1 : 0)
        if let rejection = outcome.rejection {
            var problem = Problem(outcome, rejection)
            problem.warnings = warnings
            if !caller.isTrusted { problem.mergedInto = nil }
            return problem.response()
        }
        var answer = PurchaseAnswer(outcome)
        answer.account = try await api.account(
            of: claim?.customerID, app: caller.app.id, isWanted: claim?.account,
            isOwner: answer.entitlement?.reason != .sandboxNotAccepted, isGuest: claim?.guest)
        answer.warnings = warnings
        return try Response.json(answer)
    }

    /// Reads a body and verifies its evidence. Unknown members are ignored: apps can be newer than the server.
    private func examine(
        _ submission: PurchaseSubmission, _ body: [UInt8], _ context: ServerContext
    ) async throws -> (ExaminedSubmission, unknown: [RequestMembers.UnknownMember], PurchaseRequest) {
        let (ledger, facts) = (api.ledger, context.facts)
        return try await api.verify {
            var submission = submission
            let (request, unknown) = submission.fill(from: body)
            // What is kept of a body that is no JSON is no evidence.
            if submission.evidence != nil, !submission.isMalformedBody { facts.noteEvidence() }
            let examined = ledger.examine(submission)
            // Also if the request has a flaw, which is then the answer: the evidence was verified all the same.
            facts.note(rejectedVerifications: examined.evidenceRejection?.isExpensive == true ? 1 : 0)
            return (examined, unknown, request)
        }
    }
}

extension TransactionPage {
    init(_ page: ListPage<RecordedPurchase, Int64>) {
        self.init(purchases: page.entries.map { TransactionMessage($0) }, nextCursor: page.next?.text)
        mergedInto = page.mergedInto
    }
}

extension PurchaseSubmission {
    /// Copies the members of a body that have the right form.
    ///
    /// - Returns: the request without its evidence, and the members that a claim does not have.
    mutating func fill(from body: [UInt8]) -> (PurchaseRequest, unknown: [RequestMembers.UnknownMember]) {
        let read = PurchaseRequest.read(body)
        var (request, malformed) = (read.message, read.flaw)
        unknownMembers = read.unknown.map(\.name)
        let (receipt, signed) = (request.receiptData, request.signedTransaction)
        claim.productID = request.productID.isEmpty ? nil : request.productID
        claim.transactionID = request.transactionID.isEmpty ? nil : request.transactionID
        claim.orderID = request.orderID
        claim.customerID = request.customerID
        claim.quantity = request.quantity
        claim.isGuest = request.guest ?? false
        evidence = (signed ?? receipt).map { Array($0.utf8) }
        flaw =
            flaw ?? malformed
            ?? (body.isEmpty
                ? Rejection(.fieldMissing, expected: PurchaseRequest.fields, found: Rejection.emptyBody) : nil)
            ?? (signed != nil && receipt != nil
                ? Rejection(.fieldMalformed, expected: PurchaseRequest.oneEvidence) : nil)
        if flaw?.reason == .decision(.bodyMalformed), evidence == nil { keepMalformed(body) }
        (request.receiptData, request.signedTransaction) = (nil, nil)
        return (request, read.unknown)
    }
}
