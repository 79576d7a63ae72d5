public import PurchaseVerification

public import struct Foundation.UUID

/// Evidence with the result of its verification, and its stored form. It is a class because every step of a write
/// passes it on.
public final class ExaminedEvidence: Sendable {
    /// The kind, if it could be recognised.
    public let kind: EvidenceKind?
    let verified: Result<Observation, VerificationError>
    /// What it states, for the policies of an app; `nil` if it failed verification.
    let content: VerifiedEvidence?
    let bundleID: ExactText?
    let environment: AppStoreEnvironment?
    let stored: StorableEvidence
    /// Whether it is a receipt without purchases.
    let isEmptyReceipt: Bool
    /// The notification, if it is one.
    let notification: NotificationFacts?
    /// Where it belongs among the receipts of a download, if it is an app receipt.
    let receiptPlace: ReceiptPlace?

    init(
        kind: EvidenceKind?, verified: Result<Observation, VerificationError>, content: VerifiedEvidence?,
        bundleID: ExactText?, environment: AppStoreEnvironment?, stored: StorableEvidence, isEmptyReceipt: Bool,
        notification: NotificationFacts?, receiptPlace: ReceiptPlace? = nil
    ) {
        (self.kind, self.verified, self.content, self.bundleID) = (kind, verified, content, bundleID)
        (self.environment, self.stored, self.isEmptyReceipt) = (environment, stored, isEmptyReceipt)
        (self.notification, self.receiptPlace) = (notification, receiptPlace)
    }

    /// Why it failed verification; `nil` if it is genuine.
    var rejection: Rejection? { error.map { Rejection($0) } }

    /// The same, as the core says it.
    var error: VerificationError? {
        if case .failure(let error) = verified { error } else { nil }
    }

    /// The evidence for the rules.
    ///
    /// - Parameters:
    ///   - transactionID: the transaction that the claim names; `nil` if every purchase is claimed.
    ///   - app: the app of the claim, as the settings in force have it.
    func claimed(_ transactionID: String? = nil, for app: RegisteredApp?) -> ClaimedEvidence {
        var claimed = ClaimedEvidence(
            kind: kind, objection: app.flatMap(objection), isEmptyReceipt: isEmptyReceipt, transactionID: transactionID)
        switch verified {
        case .failure(let error): claimed.failure = error
        case .success(let observation):
            claimed.statesTransactions = !observation.transactions.isEmpty
            let id = transactionID.map { ExactText($0) }
            claimed.proven = observation.transactionFacts.filter {
                $0.productID != nil && (id == nil || $0.key.transactionID == id)
            }
        }
        return claimed
    }

    /// The reason why the settings of an app do not accept genuine evidence.
    func objection(_ app: RegisteredApp) -> VerificationError? {
        guard let facts = content?.facts else { return nil }
        do throws(VerificationError) {
            for policy in app.policies { try PolicyOfNamedApp(policy: policy).check(facts) }
            return nil
        } catch {
            return error
        }
    }

    /// The source of its statements.
    var source: EvidenceSource {
        switch kind {
        case .appReceipt: .appReceipt
        case .transactionReceipt: .transactionReceipt
        default: .signedData
        }
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
struct PolicyOfNamedApp: PurchasePolicy {
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

/// A verification that ended: what the evidence is, and its result.
public struct VerifiedPiece: Sendable {
    /// The kind; `nil` if it could not be recognised.
    public let kind: EvidenceKind?
    /// Why it is not genuine; `nil` if it is.
    public let error: VerificationError?
    /// How long the verification took.
    public let duration: Duration
}

/// The verdicts of a claim.
public enum Verdict: String, Sendable, CaseIterable {
    case accepted
    case rejected
    /// It cannot be decided yet: the claim waits for the App Store.
    case undetermined

    /// The verdict of an entry with a code.
    init(code: String) {
        switch DecisionCode(rawValue: code) {
        case .accepted: self = .accepted
        case .some(let code) where code.isUndetermined: self = .undetermined
        default: self = .rejected
        }
    }
}

/// A genuine piece of a restore that tells nothing new and gives the customer nothing: every purchase in it belongs to
/// somebody else, or it repeats an earlier piece of the request. The daily budget pays for its entry; beyond it, the
/// piece is only counted.
struct IdlePiece: Sendable {
    let index: Int
    let sha256: [UInt8]
    /// Why the piece as a whole is refused.
    let rejection: Rejection?
    /// The answers about its purchases.
    let purchases: [RestoredPurchase]
    /// The code under which it is counted.
    let code: String

    /// Adds the piece to an answer, without an entry.
    func answer(_ outcome: inout RestoreOutcome) {
        outcome.counted += 1
        outcome.purchases += purchases
        guard let rejection else { return }
        outcome.refused.append(
            RefusedEvidence(
                submissionID: nil, leafHash: [], index: index, rejection: rejection,
                disposition: rejection.disposition(hasPurchase: false)))
    }
}

/// Evidence of a restore that waits for the App Store.
public struct WaitingEvidence: Sendable, Equatable {
    public var claim: UUID
    public var sha256: [UInt8]
    /// When the App Store is asked again.
    public var nextAttemptAt: Timestamp?
}
