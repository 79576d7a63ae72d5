/// Something that was done about the owner of a purchase, as the journal has it.
public struct OwnershipAct: Sendable, Equatable {
    /// The journal entry.
    public var entry: Int64
    /// What was done.
    public var content: Content

    /// How many claims of one transaction are acts. Every further claim of the original reads them all, and whoever has a key of
    /// the app can claim one receipt under any number of names. A transaction with so many claims has had an owner for long; a
    /// further claim is recorded and changes nothing, also under `move`. Operators can still transfer it.
    public static let claimsOfOneTransaction = 256

    /// What was done.
    public enum Content: Sendable, Equatable {
        /// A claim that binds: its own evidence proved the transaction, and the product and the account token agreed.
        /// `mayTransfer` says whether it may take the purchase from another claimant.
        case claim(transaction: TransactionKey, customer: CustomerNumber, mayTransfer: Bool)
        /// An operator transferred the original of a transaction from its owner to somebody else; `from` is `nil` if it was
        /// held.
        case move(transaction: TransactionKey, from: CustomerNumber?, to: CustomerNumber)
        /// A customer was merged into another.
        case merge(CustomerNumber, into: CustomerNumber)
    }

    /// An act by its parts.
    public init(entry: Int64, content: Content) {
        self.entry = entry
        self.content = content
    }

    /// Whether a claim transfers what another claimant has: under the policy `move` when it was judged, and only where nothing
    /// is used up or runs out meanwhile.
    public static func mayTransfer(under policy: TransferPolicy, kind: ProductKind?) -> Bool {
        policy == .move && (kind == .autoRenewable || kind == .nonConsumable)
    }
}
