import Hummingbird
import PurchaseAPI
import PurchaseLedger

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
        let (wanted, examined, unknown) = try await api.bodies.withBody(of: request) { body in
            let read = try await api.verify { RestoreRequest.read(body) }
            let restore = read.message
            // The request itself has taken one token.
            if restore.evidence.count > 1 { try caller.charge(restore.evidence.count - 1) }
            if !restore.evidence.isEmpty { context.facts.noteEvidence() }
            if let flaw = read.flaw {
                guard flaw.reason == .decision(.bodyMalformed), !body.isEmpty else {
                    let counted = try await observe(restore, flaw, caller, context)
                    var problem = Problem(flaw)
                    problem.warnings = WarningMessage.about([], counted: counted)
                    throw problem
                }
                throw try await record(malformed: body, flaw, caller, context)
            }
            var submission = RestoreSubmission(
                app: caller.app.id, customerID: restore.customerID, evidence: restore.evidence)
            (submission.keyID, submission.sourceAddress) = (caller.key.id, context.remoteAddress)
            submission.unknownMembers = read.unknown.map(\.name)
            (submission.isRequested, submission.isGuest) = (restore.requested ?? false, restore.guest ?? false)
            if submission.isRequested, caller.app.guestRestore == .move {
                if restore.appTransaction != nil { try caller.charge(1) }
                submission.appTransaction = restore.appTransaction.map { Array($0.utf8) }
            }
            let (ledger, examinable) = (api.ledger, submission)
            let examined = try await api.verify { ledger.examine(examinable) }
            context.facts.note(rejectedVerifications: examined.rejections.count(where: \.isExpensive))
            // The evidence is not kept while the restore waits.
            var wanted = RestoreRequest(customerID: restore.customerID)
            (wanted.guest, wanted.account) = (restore.guest, restore.account)
            return (wanted, examined, read.unknown)
        }
        // The body is no longer held here: a restore can wait for the App Store.
        let outcome = try await api.restore(examined)
        var answer = RestoreAnswer(outcome, customerID: wanted.customerID)
        if outcome.needsAppTransaction { answer.needsAppTransaction = true }
        answer.account = try await api.account(
            of: wanted.customerID, app: caller.app.id, isWanted: wanted.account, isOwner: outcome.ownsPurchase,
            isGuest: wanted.guest)
        var isKnown = outcome.ownsPurchase || caller.isTrusted || answer.account != nil
        if !isKnown, wanted.guest == true {
            isKnown = try await api.ledger.answer(IsGuest(app: caller.app.id, customerID: wanted.customerID))
        }
        if !isKnown {
            // Whoever has the key of an app and somebody's evidence can name anybody. That a granted purchase does not
            // count in the sandbox is said: a device that does not hear it would show it.
            let granted = answer.purchases.filter { $0.disposition == .granted }
            answer.entitlements.removeAll { entitlement in
                entitlement.state != .moved
                    && (entitlement.reason != .sandboxNotAccepted
                        || !granted.contains {
                            $0.productID == entitlement.productID && $0.environment == entitlement.environment
                        })
            }
            answer.mergedInto = nil
        }
        answer.warnings = WarningMessage.about(unknown, counted: outcome.counted)
        return try Response.json(answer)
    }

    /// Records a body that cannot be read, so that support can see what the app sent.
    private func record(
        malformed body: [UInt8], _ flaw: Rejection, _ caller: Caller, _ context: ServerContext
    ) async throws -> Problem {
        var submission = PurchaseSubmission(app: caller.app.id)
        (submission.keyID, submission.sourceAddress) = (caller.key.id, context.remoteAddress)
        (submission.flaw, submission.isRestore) = (flaw, true)
        submission.keepMalformed(body)
        let (ledger, examinable) = (api.ledger, submission)
        let examined = try await api.verify { ledger.examine(examinable) }
        let outcome = try await ledger.perform(ClaimPurchase(examined))
        return Problem(outcome, outcome.rejection ?? flaw)
    }

    /// The evidence contains facts from Apple even if the request is wrong.
    ///
    /// - Returns: the number of pieces that were only counted.
    private func observe(
        _ restore: RestoreRequest, _ flaw: Rejection, _ caller: Caller, _ context: ServerContext
    ) async throws -> Int {
        var submission = RestoreSubmission(
            app: caller.app.id, customerID: "", evidence: restore.evidence.filter { !$0.isEmpty })
        (submission.keyID, submission.sourceAddress) = (caller.key.id, context.remoteAddress)
        let (ledger, examinable) = (api.ledger, submission)
        let examined = try await api.verify { ledger.examine(examinable) }
        context.facts.note(rejectedVerifications: examined.rejections.count(where: \.isExpensive))
        return try await ledger.observe(examined, flaw: flaw)
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
        mergedInto = outcome.mergedInto
    }
}

extension RestoredPurchaseMessage {
    fileprivate init(_ purchase: RestoredPurchase) {
        self.init(
            transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
            productID: purchase.productID, environment: EnvironmentName(purchase.environment),
            expiresAt: purchase.expiresAt.map { "\($0)" }, code: purchase.code, detail: purchase.sentence,
            disposition: PurchaseAPI.Disposition(purchase.disposition), replayed: purchase.isReplayed,
            claimedBy: purchase.claimedBy.map { PurchaseAPI.PriorClaim($0) }, submissionID: purchase.submissionID?.text,
            leafHash: purchase.submissionID.map { _ in purchase.leafHash.hexadecimal })
    }
}

extension RefusedEvidenceMessage {
    fileprivate init(_ refused: RefusedEvidence) {
        let rejection = refused.rejection
        self.init(
            index: refused.index, code: rejection.code, detail: rejection.sentence, expected: rejection.expected,
            found: rejection.found, disposition: PurchaseAPI.Disposition(refused.disposition),
            submissionID: refused.submissionID?.text,
            leafHash: refused.submissionID.map { _ in refused.leafHash.hexadecimal })
    }
}
