public import PurchaseVerification

public import struct Foundation.UUID

/// One purchase of a restore.
public struct RestoredPurchase: Sendable, Equatable {
    /// The journal entry; `nil` if the piece of evidence was only counted.
    public var submissionID: UUID?
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String
    /// Why it currently gives the customer nothing; for an expired or withdrawn purchase that is not an error. `nil` if
    /// it gives access.
    public var rejection: Rejection?
    public var disposition: Disposition
    public var isReplayed: Bool
    public var claimedBy: PriorClaim?
    public var expiresAt: Timestamp?

    /// `accepted`, or the code of the rejection.
    public var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }
    /// The explanation of the code, as a sentence.
    public var sentence: String { rejection?.sentence ?? DecisionCode.accepted.sentence }
}

extension RestoredPurchase {
    /// The outcome of a claim.
    init(_ claim: PurchaseClaim, _ record: TransactionRecord, _ entry: JournalEntry?) {
        self.init(
            submissionID: entry?.id, leafHash: entry?.leafHash ?? [], environment: claim.proven.key.environment,
            transactionID: claim.proven.key.transactionID.string,
            originalTransactionID: record.facts.original.transactionID.string,
            productID: claim.proven.productID?.string ?? "", rejection: claim.refusal,
            disposition: claim.refusal?.disposition(hasPurchase: claim.hasPurchase) ?? .granted,
            isReplayed: claim.isReplayed, claimedBy: claim.refusal?.priorClaim, expiresAt: record.facts.end)
    }
}
