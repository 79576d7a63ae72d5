public import PurchaseVerification

public import struct Foundation.UUID

/// A claim as it was sent, before it is verified.
public struct PurchaseSubmission: Sendable {
    /// The app of the API key that the claim was sent with.
    public var app: String
    public var keyID: String?
    public var sourceAddress: String?
    public var claim = ClaimFields()
    /// The evidence as it was sent.
    public var evidence: [UInt8]?
    /// The error in the request itself.
    public var flaw: Rejection?
    /// The names of members that the server does not know.
    public var unknownMembers: [String] = []
    /// Whether it is a restore whose body cannot be read.
    public var isRestore = false
    /// Whether the evidence is the beginning of a body that cannot be read.
    public private(set) var isMalformedBody = false

    /// The maximum number of unknown members that are recorded and named in the answer.
    public static let unknownMemberLimit = ClaimDetails.unknownMemberLimit
    /// The bytes of a body that cannot be read which are kept.
    public static let malformedBytes = 1024
    /// The kind of evidence under which they are recorded.
    static let malformedKind = "malformed_body"

    /// Keeps the beginning of a body that cannot be read as the submission's evidence, within the budget of unverified
    /// evidence.
    public mutating func keepMalformed(_ body: [UInt8]) {
        guard !body.isEmpty else { return }
        evidence = Array(body.prefix(Self.malformedBytes))
        isMalformedBody = true
    }

    /// An empty submission.
    public init(app: String) { self.app = app }
}

extension PurchaseLedger {
    /// Verifies the evidence of a claim.
    public func examine(_ submission: PurchaseSubmission) -> ExaminedSubmission {
        let bytes = submission.evidence.flatMap { $0.isEmpty ? nil : $0 }
        var flaw = submission.flaw
        if flaw == nil {
            do throws(Rejection) {
                try submission.claim.requireComplete(hasEvidence: bytes != nil)
            } catch {
                flaw = error
            }
        }
        return ExaminedSubmission(
            submission: submission, evidence: bytes.map { examine($0) }, flaw: flaw)
    }
}

/// The claim of one purchase, and its outcome.
struct PurchaseClaim {
    let step: ClaimStep
    /// The position of the transaction in the histories.
    let place: (history: Int, record: Int)
    /// Whether the purchase had no owner before.
    let isFirst: Bool
    var binds = false
    /// Whether the same customer claimed the transaction before, whatever became of that claim.
    var isReplayed = false
    var verdict = ClaimVerdict()
    /// The customer's entitlement to the product, before `sandbox_access` is applied.
    var entitlement: UncountedEntitlement?

    /// The guest from whom it takes the original over.
    var guest: Int64? { binds ? step.statement.guest : nil }
    /// The statement of the claim's own evidence.
    var proven: ObservedTransaction { step.statement.proven }
    /// Why it is refused; `nil` if it is accepted.
    var refusal: Rejection? { verdict.refusal }
    var hasPurchase: Bool { verdict.hasPurchase }
    /// Whether it is accepted, and gives the purchase its first owner.
    var isFirstGrant: Bool { isFirst && refusal == nil }
    /// `accepted`, or the code of the refusal.
    var code: String { refusal?.code ?? DecisionCode.accepted.rawValue }
}

/// A claim whose evidence was verified. It is a class because every step of a write passes it on.
public final class ExaminedSubmission: Sendable {
    let submission: PurchaseSubmission
    let evidence: ExaminedEvidence?
    /// The reason why the claim cannot be decided. Its evidence is observed all the same, except where the App Store is
    /// to be asked first (`WaitingClaim`).
    let flaw: Rejection?

    init(submission: PurchaseSubmission, evidence: ExaminedEvidence?, flaw: Rejection?) {
        (self.submission, self.evidence, self.flaw) = (submission, evidence, flaw)
    }

    /// Why the evidence failed verification, whatever else is wrong with the claim; `nil` if it is genuine or missing.
    public var evidenceRejection: Rejection? { evidence?.rejection }
}

/// The answer to a claim.
public struct PurchaseOutcome: Sendable, Equatable {
    /// The journal entry.
    public var submissionID: UUID
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    /// Whether the claim was refused beyond the daily budget. Then it is only counted, and there is no entry.
    public var isCounted = false
    /// The reason why the claim was rejected; `nil` if it was accepted.
    public var rejection: Rejection?
    public var disposition: Disposition
    /// Whether the same customer claimed the transaction before.
    public var isReplayed: Bool
    /// The holder of the earlier claim, if the code is `already_claimed`.
    public var claimedBy: PriorClaim?
    public var customerID: String?
    /// The customer into whom the named one was merged; `nil` if the claim names none or they were not.
    public var mergedInto: String?
    public var environment: AppStoreEnvironment?
    public var transactionID: String?
    public var originalTransactionID: String?
    public var productID: String?
    public var quantity: Int64?
    public var purchasedAt: Timestamp?
    public var expiresAt: Timestamp?
    public var price: PurchasePrice?
    public var offer: PurchaseOffer?
    public var productKind: ProductKind?
    public var isFamilyShared = false
    /// The seats that the transaction has left; `nil` if it is not sold by the seat, and for members.
    public var seats: Int64?
    /// When the transaction became known.
    public var knownAt: Timestamp?
    /// The rule that gave it its owner.
    public var ownerReason: String?
    /// The order that the transaction paid.
    public var order: Order?
    /// The customer's current entitlement to the product.
    public var entitlement: Entitlement?
    /// When the App Store is asked again, if the claim waits for its answer.
    public var nextAttemptAt: Timestamp?
    /// The claim to check with the App Store; `nil` if none needs to be.
    public var asksAppStore: UUID?

    /// The id of the order that the transaction paid.
    public var orderID: UUID? { order?.id }
    /// The state of that order.
    public var orderStatus: OrderStatus? { order?.status }
    public var verdict: Verdict { rejection.map { $0.isUndetermined ? .undetermined : .rejected } ?? .accepted }
    /// `accepted`, or the code of the rejection.
    public var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }
    public var expected: String? { rejection?.expected }
    public var found: String? { rejection?.found }
    /// The explanation of the code, as a sentence.
    public var sentence: String { rejection?.sentence ?? DecisionCode.accepted.sentence }
}
