import Foundation
public import PurchaseVerification

extension PurchaseLedger {
    /// Verifies evidence. The cost is that of the cryptography; no lock is held.
    ///
    /// - Parameter evidence: as it was sent.
    func examine(_ evidence: [UInt8]) -> ExaminedEvidence {
        let start = ContinuousClock.now
        let examined = EvidenceExaminer(verifier: verifier, now: clock()).examine(evidence)
        noteVerification(examined.kind, examined.error, since: start)
        return examined
    }

    /// Tells of a verification that ended.
    func noteVerification(_ kind: EvidenceKind?, _ error: VerificationError?, since start: ContinuousClock.Instant) {
        guard let onVerification else { return }
        onVerification(VerifiedPiece(kind: kind, error: error, duration: .now - start))
    }

    /// Inspects evidence with the trust anchors of the ledger and the settings of an app. It writes nothing and grants
    /// nothing.
    ///
    /// - Parameters:
    ///   - evidence: as it was sent.
    ///   - app: the app whose settings the evidence is compared with.
    public func inspect(_ evidence: [UInt8], app name: String) -> EvidenceInspection {
        let policies = registry.app(name)?.settings.policies ?? []
        return verifier.inspect(evidence, policies: policies.map(PolicyOfNamedApp.init)).at(clock())
    }
}

/// Verifies evidence. Genuine evidence is observed whatever the settings of the claim's app, so a decision asks the
/// settings in force (`ExaminedEvidence.claimed`).
struct EvidenceExaminer: Sendable {
    let verifier: PurchaseVerifier
    /// The time of the answer; `nil` if there is none, as for evidence that was recorded.
    var now: Timestamp?

    func examine(_ bytes: [UInt8]) -> ExaminedEvidence {
        var kind: EvidenceKind?
        do throws(VerificationError) {
            return try genuine(bytes, kind: &kind)
        } catch {
            return ExaminedEvidence(
                kind: kind, verified: .failure(error), content: nil, bundleID: nil, environment: nil,
                stored: StorableEvidence(bytes, isVerified: false), isEmptyReceipt: false, notification: nil)
        }
    }

    /// Verifies evidence on all processors.
    func examine(_ pieces: [[UInt8]?]) async -> [ExaminedEvidence?] {
        let width = max(1, ProcessInfo.processInfo.activeProcessorCount)
        var examined = [ExaminedEvidence?](repeating: nil, count: pieces.count)
        await withTaskGroup(of: [(Int, ExaminedEvidence)].self) { group in
            for lane in 0..<width {
                group.addTask {
                    stride(from: lane, to: pieces.count, by: width).compactMap { index in
                        pieces[index].map { (index, examine($0)) }
                    }
                }
            }
            for await lane in group {
                for (index, evidence) in lane { examined[index] = evidence }
            }
        }
        return examined
    }

    /// Verifies evidence that is not kept if it is refused, so that nothing but the verification is done for a forgery.
    ///
    /// - Parameter kind: set to the kind once it is recognised.
    func genuine(
        _ bytes: [UInt8], kind: inout EvidenceKind?
    ) throws(VerificationError) -> ExaminedEvidence {
        let evidence = try Evidence(bytes)
        kind = evidence.kind
        let verified: VerifiedEvidence
        do throws(VerificationError) {
            verified = try verifier.verify(evidence, policies: [])
        } catch {
            throw now.map(error.at) ?? error
        }
        let observation = Observation(verified)
        for statement in observation.transactions { try statement.requireQuantity() }
        let facts = verified.facts
        var isEmpty = false
        var place: ReceiptPlace?
        if case .appReceipt(let receipt) = verified {
            isEmpty = receipt.inAppPurchases.isEmpty
            place = ReceiptPlace(
                downloadID: receipt.downloadID, createdAt: receipt.creationDate,
                originals: observation.transactionFacts.map(\.original.transactionID))
        }
        let stored = StorableEvidence(bytes, isVerified: true)
        var notification: NotificationFacts?
        if case .notification(let content) = verified {
            notification = NotificationFacts(content, sha256: stored.sha256)
        }
        return ExaminedEvidence(
            kind: verified.kind, verified: .success(observation),
            content: verified, bundleID: facts.bundleID.map { ExactText($0) },
            environment: facts.environment, stored: stored, isEmptyReceipt: isEmpty, notification: notification,
            receiptPlace: place)
    }
}

extension TransactionStatement {
    /// - Throws: `claims_malformed` for a quantity that nobody can buy.
    fileprivate func requireQuantity() throws(VerificationError) {
        guard let quantity, !(1...ObservedTransaction.quantityLimit).contains(quantity) else { return }
        throw VerificationError(
            .claimsMalformed, expected: "a quantity from 1 to \(ObservedTransaction.quantityLimit)",
            found: "\(quantity)")
    }
}
