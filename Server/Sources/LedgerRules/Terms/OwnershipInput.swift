/// Everything that determines the owners of the transactions of one `OwnershipKey`.
public struct OwnershipInput: Sendable {
    /// The facts of every transaction of the key, in any order.
    public var transactions: [ObservedTransaction]
    /// The account tokens that are known now.
    public var tokens: TokenAssignments
    /// Binding claims and transfers of the original, and all merges of their customers, in the order of the journal.
    public var acts: [OwnershipAct]

    /// Creates an input.
    public init(transactions: [ObservedTransaction], tokens: TokenAssignments, acts: [OwnershipAct]) {
        self.transactions = transactions
        self.tokens = tokens
        self.acts = acts
    }
}
