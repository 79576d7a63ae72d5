import Foundation
import PurchaseLedger

/// Claims and restores of requests, which wait for the App Store for a limited time if the app's mode requires it.
extension PurchaseAPIContext {
    /// Decides a claim, or says that it waits.
    func claim(_ examined: ExaminedSubmission) async throws -> PurchaseOutcome {
        let outcome = try await decide(examined)
        metrics.noteClaim(outcome.verdict, code: outcome.code)
        traces.note(outcome.isCounted ? nil : outcome.submissionID)
        return outcome
    }

    private func decide(_ examined: ExaminedSubmission) async throws -> PurchaseOutcome {
        let outcome = try await ledger.perform(ClaimPurchase(examined))
        guard outcome.verdict == .undetermined else {
            if let claim = outcome.asksAppStore { appStoreClaims.begin(claim) }
            return outcome
        }
        switch try await appStoreClaims.result(
            of: outcome.submissionID, isNew: outcome.asksAppStore != nil, until: appStoreClaims.deadline)
        {
        case .recorded(.decided(let decided)) where outcome.asksAppStore != nil: return decided
        case .postponed(let next):
            var waiting = outcome
            waiting.nextAttemptAt = next
            return waiting
        case .recorded, .failed, nil: break
        }
        // Another request or another server asked about it.
        guard let decision = try await ledger.answer(DecisionOfClaim(outcome.submissionID)) else { return outcome }
        guard let rejection = decision.rejection, decision.isWithoutEffect else {
            // The App Store agreed, so the claim is judged like any other: it may be refused only for its order.
            return try await ledger.perform(ClaimPurchase(examined))
        }
        var refused = outcome
        (refused.submissionID, refused.leafHash, refused.rejection) = (decision.id, decision.leafHash, rejection)
        refused.disposition = rejection.disposition(hasPurchase: false)
        return refused
    }

    /// Restores purchases, or says which wait.
    func restore(_ examined: ExaminedRestore) async throws -> RestoreOutcome {
        let outcome = try await decide(examined)
        for purchase in outcome.purchases {
            metrics.noteClaim(
                purchase.code == DecisionCode.accepted.rawValue ? .accepted : .rejected, code: purchase.code)
            traces.note(purchase.submissionID)
        }
        for refused in outcome.refused {
            let rejection = refused.rejection
            metrics.noteClaim(rejection.isUndetermined ? .undetermined : .rejected, code: rejection.code)
        }
        return outcome
    }

    private func decide(_ examined: ExaminedRestore) async throws -> RestoreOutcome {
        let outcome = try await ledger.perform(RestorePurchases(examined))
        // The App Store is asked about all of them at the same time.
        for claim in outcome.asksAppStore { appStoreClaims.begin(claim) }
        guard !outcome.waiting.isEmpty else { return outcome }
        let end = appStoreClaims.deadline
        var isDecided = false
        for waiting in outcome.waiting {
            _ = try await appStoreClaims.result(of: waiting.claim, isNew: false, until: end)
            if try await ledger.answer(DecisionOfClaim(waiting.claim)) != nil { isDecided = true }
        }
        // A claim that was just decided does not wait again.
        return isDecided ? try await ledger.perform(RestorePurchases(examined)) : outcome
    }
}
