import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// `POST /v1/restores`: every purchase in the evidence that can belong to the customer.
struct RestoreRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.post("restores") { request, context in try await restore(request, context) }
    }

    /// A restore is idempotent by its transactions, so an `Idempotency-Key` is accepted and changes nothing.
    private func restore(_ request: Request, _ context: ServerContext) async throws -> Response {
        let caller = try context.requireCaller(.client)
        _ = try request.idempotencyKey()
        let (customer, examined) = try await api.bodies.withBody(of: request) { body in
            let (restore, flaw) = try await api.verify(bytes: body.count) { RestoreRequest.read(body) }
            if !restore.evidence.isEmpty { context.facts.noteEvidence() }
            if let flaw {
                try await observe(restore, app: caller.app.id)
                throw Problem(flaw)
            }
            var submission = RestoreSubmission(
                app: caller.app.id, customerID: restore.customerID, evidence: restore.evidence)
            (submission.keyID, submission.sourceAddress) = (caller.key.id, context.remoteAddress)
            let (ledger, examinable) = (api.ledger, submission)
            let examined = try await api.verify(bytes: body.count) { ledger.examine(examinable) }
            return (restore.customerID, examined)
        }
        // The body is no longer held here: a restore can wait for the App Store.
        return try Response.json(RestoreAnswer(try await api.restore(examined), customerID: customer))
    }

    /// The evidence contains facts from Apple even if the request is wrong.
    private func observe(_ restore: RestoreRequest, app: String) async throws {
        let ledger = api.ledger
        for evidence in restore.evidence where !evidence.isEmpty {
            let submission = EvidenceSubmission(app: app, source: "restore", evidence: evidence)
            let examined = try await api.verify(bytes: evidence.count) { ledger.examine(submission) }
            _ = try await ledger.perform(ObserveEvidence(examined))
        }
    }
}

extension RestoreRequest {
    /// The pieces of evidence, whose number the reading of the request has limited. An empty piece keeps its position,
    /// and is refused.
    fileprivate var evidence: [[UInt8]] {
        ([receiptData].compactMap(\.self) + (signedTransactions ?? [])).map { Array($0.utf8) }
    }
}

extension RestoreAnswer {
    fileprivate init(_ outcome: RestoreOutcome, customerID: String) {
        self.init(
            customerID: customerID, purchases: outcome.purchases.map { RestoredPurchaseMessage($0) },
            refused: outcome.refused.map { RefusedEvidenceMessage($0) },
            entitlements: outcome.entitlements.map { EntitlementMessage($0) })
    }
}

extension RestoredPurchaseMessage {
    fileprivate init(_ purchase: RestoredPurchase) {
        self.init(
            transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
            productID: purchase.productID, environment: EnvironmentName(purchase.environment),
            expiresAt: purchase.expiresAt.map { "\($0)" }, code: purchase.code, detail: purchase.sentence,
            disposition: PurchaseAPI.Disposition(purchase.disposition), replayed: purchase.isReplayed,
            claimedBy: purchase.claimedBy.map { PurchaseAPI.PriorClaim($0) }, submissionID: purchase.submissionID.text,
            leafHash: purchase.leafHash.hexadecimal)
    }
}

extension RefusedEvidenceMessage {
    fileprivate init(_ refused: RefusedEvidence) {
        let rejection = refused.rejection
        self.init(
            index: refused.index, code: rejection.code, detail: rejection.sentence, expected: rejection.expected,
            found: rejection.found, disposition: PurchaseAPI.Disposition(refused.disposition),
            submissionID: refused.submissionID.text, leafHash: refused.leafHash.hexadecimal)
    }
}
