import PurchaseVerification

/// What the ledger knows about the original transactions that a receipt names, whoever owns them.
public struct ReceiptState: Sendable {
    /// The transactions of the same holders as those in the receipt, in any order.
    public var transactions: [ObservedTransaction] = []
    /// The renewal facts about these, by original transaction.
    public var renewals: [ExactText: ObservedRenewal] = [:]
    /// The newest signed statuses, by original transaction and name of the holder.
    package var statuses: [ExactText: [String: SignedStatus]] = [:]
    /// The newest genuine receipt of the same app, environment and download, as it was sent, if it was signed after
    /// this one and names every original of it.
    public var latestReceipt: [UInt8]?
    /// Whether every known transaction of the receipt belonged to an erased customer.
    public var isErased = false
    /// Whether the app moved into another ledger, which alone knows its purchases.
    public var hasMoved = false

    /// Nothing is known.
    public init() {}

    /// Whether it says nothing that the receipt does not.
    public var isEmpty: Bool { transactions.isEmpty && latestReceipt == nil && !isErased }
}
