/// An act on the owner of a purchase, as recorded in the journal.
public struct OwnershipAct: Sendable, Equatable {
    /// The journal entry.
    public var entry: Int64
    /// The kind of act.
    public var content: Content

    /// The number of claims of one transaction that count as acts. Every further claim of the original reads them all,
    /// and anybody with a key of the app can claim one receipt under any number of names. After this many claims a
    /// transaction already has an owner; a further claim is recorded and changes nothing, even under `move`. Operators
    /// can still transfer it.
    public static let claimsOfOneTransaction = 256

    /// The kinds of acts.
    public enum Content: Sendable, Equatable {
        /// A claim that binds: its own evidence proved the transaction, and the product and the account token agreed.
        /// `mayTransfer` states whether it may take the purchase from another claimant.
        case claim(transaction: TransactionKey, customer: CustomerNumber, mayTransfer: Bool)
        /// An operator transferred the original of a transaction from its owner to another customer; `from` is `nil` if
        /// it was held.
        case move(transaction: TransactionKey, from: CustomerNumber?, to: CustomerNumber)
        /// A customer was merged into another.
        case merge(CustomerNumber, into: CustomerNumber)
    }

    /// Creates an act.
    public init(entry: Int64, content: Content) {
        self.entry = entry
        self.content = content
    }

    /// Whether a claim transfers the purchase of another claimant: under the policy `move` at the time of the decision,
    /// and only for kinds that are neither used up nor run out.
    public static func mayTransfer(under policy: TransferPolicy, kind: ProductKind?) -> Bool {
        policy == .move && (kind == .autoRenewable || kind == .nonConsumable)
    }
}
