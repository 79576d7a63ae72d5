package import AppStoreConnection
import Foundation
import Logging
import PurchaseLedger
package import PurchaseVerification

/// Asks the App Store about one claim after another, and records its answer, or the time of the next question.
struct ClaimQuestioner: Sendable {
    let client: any ReceiptValidation
    let access: AppStoreAccess
    let timing: AppStoreTiming
    let workers: WorkerPool
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    /// Asks about a claim, and records the outcome.
    func ask(_ id: UUID) async -> AppStoreClaimService.Result {
        do {
            guard let claim = try await access.terms.ledger.answer(AppStoreClaimByID(id)) else {
                return .recorded(.alreadyRecorded)
            }
            do {
                return try await ask(claim)
            } catch {
                log(error)
                return try await postpone(claim, attempts: claim.work.attempts + 1, "error", after: .zero)
            }
        } catch {
            // The database cannot be used.
            log(error)
            return .failed
        }
    }

    private func ask(_ claim: AppStoreClaim) async throws -> AppStoreClaimService.Result {
        let terms = access.terms
        switch try await question(about: claim, terms) {
        case nil:
            // Its evidence was erased, or is no longer trusted, so the App Store cannot be asked.
            return .recorded(try await record(.none, of: claim, terms))
        case .receipt(let question):
            switch await client.validate(question.request) {
            case .conclusive(let reply):
                let answer = try await workers.run { AppStoreAnswer(reply, question.evidence) }
                // The settings may have changed meanwhile; the claim is decided under those in force now.
                return .recorded(try await record(answer, of: claim, access.terms))
            case .undetermined(let reason): return try await postpone(claim, reason)
            }
        case .transaction(let question):
            let answer: AppStoreAnswer
            do throws(AppStoreServerError) {
                answer = AppStoreAnswer(
                    try await access.server.call(
                        GetTransaction(question.transaction.transactionID), for: question.app,
                        in: question.environment), question.transaction)
            } catch {
                guard error.isNotFound, !question.transaction.isNew(at: clock()) else {
                    return try await postpone(claim, error)
                }
                answer = AppStoreAnswer(unknownTo: error)
            }
            return .recorded(try await record(answer, of: claim, access.terms))
        }
    }

    /// A question to one of the App Store's two interfaces.
    private enum Question {
        case receipt(ReceiptQuestion)
        case transaction(TransactionQuestion)
    }

    private func question(about claim: AppStoreClaim, _ terms: AppStoreTerms) async throws -> Question? {
        guard let sent = claim.evidence else { return nil }
        return try await workers.run {
            do throws(VerificationError) {
                let evidence = try Evidence(sent)
                let verified = try terms.verifier.verify(evidence, policies: [])
                let transaction: SignedTransaction? =
                    switch verified {
                    case .signedTransaction(let transaction): transaction
                    // An app can send a notification as evidence, too.
                    case .notification(let notification): notification.transaction
                    default: nil
                    }
                if let transaction {
                    return TransactionQuestion(transaction, terms.serverApps).map(Question.transaction)
                }
                let secret = verified.facts.bundleID.flatMap { terms.secrets[$0] } ?? terms.secret
                return ReceiptQuestion(verified, bytes: evidence.bytes, app: claim.app, sharedSecret: secret)
                    .map(Question.receipt)
            } catch {
                return nil
            }
        }
    }

    private func record(
        _ answer: AppStoreAnswer, of claim: AppStoreClaim, _ terms: AppStoreTerms
    ) async throws -> RecordAppStoreAnswer.Outcome {
        var answer = answer
        // The receipt that was sent contains nothing new.
        if let latest = answer.latestReceipt, let sent = claim.evidence, latest == sent { answer.latestReceipt = nil }
        let final = answer
        let examined = try await workers.run { terms.ledger.examine(claim, final) }
        let outcome = try await terms.ledger.perform(RecordAppStoreAnswer(examined))
        let facts: Logger.Metadata = [
            "claim": "\(claim.id.text)", "app": "\(claim.app)", "code": "\(final.refusal?.code ?? "accepted")",
            "status": final.status.map { .stringConvertible($0) } ?? "none",
        ]
        if !claim.waits, let refusal = final.refusal, !refusal.isUndetermined {
            logger.warning("the App Store does not confirm a purchase that stays granted", metadata: facts)
        } else {
            logger.info("the App Store's answer about a claim is recorded", metadata: facts)
        }
        return outcome
    }

    private func postpone(
        _ claim: AppStoreClaim, _ reason: AppStoreServerError
    ) async throws -> AppStoreClaimService.Result {
        // A question that was not asked does not count.
        let wasAsked = ![.busy, .cancelled, .circuitOpen, .notConfigured].contains(reason.code)
        if reason.code == .cancelled { return try await note(claim.work, next: clock()) }
        return try await postpone(
            claim, attempts: claim.work.attempts + (wasAsked ? 1 : 0), reason.code.rawValue, seen: reason.description,
            after: reason.retryAfter)
    }

    private func postpone(
        _ claim: AppStoreClaim, _ reason: UndeterminedValidation
    ) async throws -> AppStoreClaimService.Result {
        // A question that was not asked does not count. If the sandbox was asked last, production was asked before it.
        let wasAsked =
            switch reason.code {
            case .busy, .cancelled: false
            case .circuitOpen: reason.environment == .sandbox
            default: true
            }
        if reason.code == .cancelled { return try await note(claim.work, next: clock()) }
        return try await postpone(
            claim, attempts: claim.work.attempts + (wasAsked ? 1 : 0), reason.code.rawValue, seen: reason.seen,
            after: reason.retryAfter)
    }

    /// Notes when a claim is asked about again.
    private func postpone(
        _ claim: AppStoreClaim, attempts: Int, _ code: String, seen: String? = nil, after pause: Duration
    ) async throws -> AppStoreClaimService.Result {
        var work = claim.work
        work.attempts = attempts
        let end = Timestamp(millisecondsSince1970: work.since.millisecondsSince1970 + timing.givesUpAfter)
        guard clock() < end else { return .recorded(try await record(.none, of: claim, access.terms)) }
        // While the App Store does not answer at all, it is due again when it is given up.
        let next = min(AppStoreTiming.next(after: work, pause, at: clock()), end)
        logger.info(
            "the App Store gave no answer about a claim",
            metadata: [
                "claim": "\(claim.id.text)", "app": "\(claim.app)", "code": "\(code)", "seen": "\(seen ?? "")",
                "attempts": .stringConvertible(attempts), "next": "\(next)",
            ])
        return try await note(work, next: next)
    }

    private func note(_ work: LedgerWork, next: Timestamp) async throws -> AppStoreClaimService.Result {
        try await access.terms.ledger.perform(NoteWork(work, next: next))
        return .postponed(to: next)
    }

    func log(_ error: any Error) {
        logger.error("a claim that waits for the App Store could not be worked on", metadata: ["error": "\(error)"])
    }

    /// Ends a claim that waited too long.
    func giveUp(_ id: UUID) async {
        let terms = access.terms
        do {
            guard let claim = try await terms.ledger.answer(AppStoreClaimByID(id)) else { return }
            _ = try await record(.none, of: claim, terms)
        } catch {
            log(error)
        }
    }
}

/// A question to `verifyReceipt` about verified evidence.
package struct ReceiptQuestion: Sendable {
    /// The facts that the receipt itself proves.
    package let evidence: VerifiedEvidence
    package let request: ReceiptValidationRequest

    /// - Parameters:
    ///   - verified: the evidence.
    ///   - bytes: the receipt as it was signed, not base64.
    ///   - app: the key by which calls in flight are limited.
    /// - Returns: `nil` for evidence that `verifyReceipt` does not read: it reads app receipts and transaction
    ///   receipts, and none of Xcode's.
    package init?(
        _ verified: VerifiedEvidence, bytes: [UInt8], app: String, excludesOldTransactions: Bool = false,
        sharedSecret: SharedSecret?
    ) {
        let (environment, autoRenewables): (AppStoreEnvironment?, ReceiptValidationRequest.AutoRenewables)
        switch verified {
        case .appReceipt(let receipt):
            environment = receipt.environment
            // A receipt without purchases does not show whether the customer has a subscription.
            autoRenewables =
                receipt.inAppPurchases.isEmpty
                ? .unknown : receipt.inAppPurchases.contains(where: \.isAutoRenewable) ? .present : .absent
        case .transactionReceipt(let receipt):
            environment = receipt.environment
            autoRenewables = receipt.expiresDate == nil ? .absent : .present
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification, .realtimeRequest: return nil
        }
        guard environment != .xcode else { return nil }
        evidence = verified
        request = ReceiptValidationRequest(
            receipt: bytes, app: app, autoRenewables: autoRenewables,
            excludesOldTransactions: excludesOldTransactions, sharedSecret: sharedSecret)
    }
}
