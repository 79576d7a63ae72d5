import Foundation
public import PurchaseVerification

extension PurchaseLedger {
    /// Verifies evidence for an app. The cost is that of the cryptography; no lock is held.
    ///
    /// - Parameters:
    ///   - evidence: as it was sent.
    ///   - app: the app whose settings the evidence is compared with.
    func examine(_ evidence: [UInt8], app name: String) -> ExaminedEvidence {
        let start = ContinuousClock.now
        let examined = EvidenceExaminer(verifier: verifier, now: clock())
            .examine(evidence, app: registry.app(name)?.settings)
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

/// Verifies evidence. Genuine evidence is observed whatever the settings of the claim's app, so the settings are
/// checked separately.
struct EvidenceExaminer: Sendable {
    let verifier: PurchaseVerifier
    /// The time of the answer; `nil` if there is none, as for evidence that was recorded.
    var now: Timestamp?

    func examine(_ bytes: [UInt8], app: RegisteredApp?) -> ExaminedEvidence {
        var kind: EvidenceKind?
        do throws(VerificationError) {
            return try genuine(bytes, app: app, kind: &kind)
        } catch {
            return ExaminedEvidence(
                kind: kind, verified: .failure(error), objection: nil, bundleID: nil, environment: nil,
                stored: StorableEvidence(bytes, isVerified: false), isEmptyReceipt: false, notification: nil)
        }
    }

    /// Evidence with the settings of the app that it is compared with.
    struct Piece: Sendable {
        let bytes: [UInt8]
        let app: RegisteredApp?
    }

    /// Verifies evidence on all processors.
    func examine(_ pieces: [Piece?]) async -> [ExaminedEvidence?] {
        let width = max(1, ProcessInfo.processInfo.activeProcessorCount)
        var examined = [ExaminedEvidence?](repeating: nil, count: pieces.count)
        await withTaskGroup(of: [(Int, ExaminedEvidence)].self) { group in
            for lane in 0..<width {
                group.addTask {
                    stride(from: lane, to: pieces.count, by: width).compactMap { index in
                        pieces[index].map { (index, examine($0.bytes, app: $0.app)) }
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
        _ bytes: [UInt8], app: RegisteredApp?, kind: inout EvidenceKind?
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
            objection: app.flatMap { objection($0, facts) }, bundleID: facts.bundleID.map { ExactText($0) },
            environment: facts.environment, stored: stored, isEmptyReceipt: isEmpty, notification: notification,
            receiptPlace: place)
    }

    /// The reason why the settings of an app do not accept the evidence.
    private func objection(_ app: RegisteredApp, _ facts: any EvidenceFacts) -> VerificationError? {
        do throws(VerificationError) {
            for policy in app.policies { try PolicyOfNamedApp(policy: policy).check(facts) }
            return nil
        } catch {
            return error
        }
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

extension RegisteredApp {
    /// The policies for evidence of this app.
    var policies: [any PurchasePolicy] {
        var policies: [any PurchasePolicy] = [
            EnvironmentPolicy(accepting: environments), BundleIDPolicy(anyOf: bundleIDs),
        ]
        if let appleID { policies.append(AppAppleIDPolicy(appleID)) }
        if !versions.isEmpty { policies.append(StatedVersionPolicy(versions: versions)) }
        return policies
    }
}

/// A policy of an app, for evidence that names one. Renewal info, a realtime request and a notification with an unknown
/// body may name none; without a transaction, they grant nothing.
private struct PolicyOfNamedApp: PurchasePolicy {
    let policy: any PurchasePolicy

    var name: String { policy.name }

    func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        switch facts.kind {
        case .signedRenewalInfo, .realtimeRequest: return
        case .notification where facts.bundleID == nil && facts.transactions.isEmpty: return
        default: try policy.check(facts)
        }
    }
}

/// Accepts evidence of one of the app's versions, or of a kind without a version.
private struct StatedVersionPolicy: PurchasePolicy {
    let versions: Set<String>

    var name: String { "app version" }

    func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard facts.kind == .appReceipt || facts.kind == .transactionReceipt else { return }
        try ApplicationVersionPolicy(anyOf: versions).check(facts)
    }
}
