import AppStoreConnection
import Foundation
import Logging
import PurchaseLedger
import PurchaseVerification

/// Asks the App Store about one claim after another, and records its answer, or the time of the next question.
struct ClaimQuestioner: Sendable {
    let client: any ReceiptValidation
    let workers: WorkerPool
    let clock: @Sendable () -> Timestamp
    let logger: Logger
    /// The settings in force.
    let terms: @Sendable () -> AppStoreTerms

    /// Asks about a claim, and records the outcome.
    func ask(_ id: UUID) async -> AppStoreClaimService.Result {
        do {
            guard let claim = try await terms().ledger.answer(AppStoreClaimByID(id)) else {
                return .recorded(.alreadyRecorded)
            }
            do {
                return try await ask(claim)
            } catch {
                log(error)
                return try await postpone(claim, attempts: claim.attempts + 1, "error", after: .zero)
            }
        } catch {
            // The database cannot be used.
            log(error)
            return .failed
        }
    }

    private func ask(_ claim: AppStoreClaim) async throws -> AppStoreClaimService.Result {
        let terms = self.terms()
        guard let question = try await question(about: claim, terms) else {
            // Its evidence was erased, or is no longer trusted, so the App Store cannot be asked.
            return .recorded(try await record(.none, of: claim, terms))
        }
        let outcome = await client.validate(question.request)
        // The settings may have changed meanwhile; the claim is decided under those in force now.
        let present = self.terms()
        switch outcome {
        case .conclusive(let reply):
            let answer = try await workers.run { AppStoreAnswer(reply, question.evidence) }
            return .recorded(try await record(answer, of: claim, present))
        case .undetermined(let reason): return try await postpone(claim, reason, present)
        }
    }

    private func question(about claim: AppStoreClaim, _ terms: AppStoreTerms) async throws -> ReceiptQuestion? {
        guard let sent = claim.evidence else { return nil }
        return try await workers.run {
            do throws(VerificationError) {
                let evidence = try Evidence(sent)
                let verified = try terms.verifier.verify(evidence, policies: [])
                let secret = verified.facts.bundleID.flatMap { terms.secrets[$0] } ?? terms.secret
                return ReceiptQuestion(verified, bytes: evidence.bytes, app: claim.app, sharedSecret: secret)
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
        _ claim: AppStoreClaim, _ reason: UndeterminedValidation, _ terms: AppStoreTerms
    ) async throws -> AppStoreClaimService.Result {
        let now = clock().millisecondsSince1970
        // A question that was not asked does not count. If the sandbox was asked last, production was asked before it.
        let wasAsked =
            switch reason.code {
            case .busy, .cancelled: false
            case .circuitOpen: reason.environment == .sandbox
            default: true
            }
        guard reason.code != .cancelled else {
            // The next start asks at once.
            try await terms.ledger.perform(
                PostponeAppStoreClaim(claim.id, attempts: claim.attempts, to: Timestamp(millisecondsSince1970: now)))
            return .postponed(to: Timestamp(millisecondsSince1970: now))
        }
        return try await postpone(
            claim, attempts: claim.attempts + (wasAsked ? 1 : 0), reason.code.rawValue, seen: reason.seen,
            after: reason.retryAfter)
    }

    /// Notes when a claim is asked about again.
    private func postpone(
        _ claim: AppStoreClaim, attempts: Int, _ code: String, seen: String? = nil, after pause: Duration
    ) async throws -> AppStoreClaimService.Result {
        let milliseconds = max(AppStoreTiming.pause(after: attempts), Int64(pause / .milliseconds(1)))
        let next = Timestamp(millisecondsSince1970: clock().millisecondsSince1970 + milliseconds)
        logger.info(
            "the App Store gave no answer about a claim",
            metadata: [
                "claim": "\(claim.id.text)", "app": "\(claim.app)", "code": "\(code)", "seen": "\(seen ?? "")",
                "attempts": .stringConvertible(attempts), "next": "\(next)",
            ])
        try await terms().ledger.perform(PostponeAppStoreClaim(claim.id, attempts: attempts, to: next))
        return .postponed(to: next)
    }

    func log(_ error: any Error) {
        logger.error("a claim that waits for the App Store could not be worked on", metadata: ["error": "\(error)"])
    }

    /// Ends a claim that waited too long.
    func giveUp(_ id: UUID) async {
        let terms = self.terms()
        do {
            guard let claim = try await terms.ledger.answer(AppStoreClaimByID(id)) else { return }
            _ = try await record(.none, of: claim, terms)
        } catch {
            log(error)
        }
    }
}
