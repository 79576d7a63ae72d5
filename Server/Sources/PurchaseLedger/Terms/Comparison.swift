public import PurchaseVerification

public import struct Foundation.UUID

/// Another system's answer beside the ledger's.
public struct Comparison: Sendable, Equatable {
    public var theirs: ForeignAnswer
    /// Whether their answer gives access at the time of the comparison.
    public var isTheirsActive: Bool
    /// The entitlement of the ledger that it is compared with; `nil` if the customer never had one.
    public var ours: Entitlement?
    /// `nil` if both say the same.
    public var difference: Difference?

    /// Why the two answers differ.
    public struct Difference: Sendable, Equatable {
        public var cause: ComparisonCause
        /// The rule of the ledger that decided (docs/compare.md, "Rules").
        public var rule: ComparisonRule
        /// A sentence that says who is right, and why.
        public var sentence: String
        /// The purchases on which it rests.
        public var evidence: [Evidence]
    }

    /// A purchase, with the entries that say so.
    public struct Evidence: Sendable, Equatable {
        public var environment: AppStoreEnvironment
        public var transactionID: String
        public var originalTransactionID: String
        public var productID: String
        /// Entries of the record, the newest first.
        public var entryIDs: [UUID]
    }
}
