/// The owner of a transaction, and the reason.
public struct TransactionOwner: Sendable, Equatable {
    /// The owner; `nil` if the transaction is held: nobody has claimed it, and it gives nothing yet.
    public var customer: CustomerNumber?
    /// The reason for this owner, or for the first one.
    public var ground: Ground?
    /// The last change since then.
    public var change: Change?
    /// Other customers who owned it, or would own it without the token that is now known; the latest sixteen, in the
    /// order of the journal.
    public var others: [CustomerNumber] = []

    /// Creates an owner; without arguments, no owner.
    public init(customer: CustomerNumber? = nil, ground: Ground? = nil) {
        self.customer = customer
        self.ground = ground
    }

    /// The reason why a transaction belongs to a customer.
    public enum Ground: Sendable, Equatable {
        /// It has an account token of the customer.
        case ownToken
        /// The nearest earlier transaction of the original with a known token.
        case inheritedToken(TransactionKey)
        /// The first binding claim, by its journal entry.
        case claim(entry: Int64)
        /// An operator transferred a held transaction to a customer.
        case move(entry: Int64)
    }

    /// The reason why a transaction was transferred to another owner.
    public enum Change: Sendable, Equatable {
        /// By a claim under the policy `move`.
        case transfer(entry: Int64)
        /// By an operator.
        case move(entry: Int64)
        /// Its owner was merged into another customer.
        case merge(entry: Int64)
    }
}

extension TransactionOwner {
    /// The rule that gave the transaction its owner, as stored in the row.
    package var reason: String? {
        guard customer != nil else { return nil }
        switch change {
        case .transfer: return "transfer"
        case .move: return "operator_move"
        case .merge: return "merge"
        case nil: break
        }
        switch ground {
        case .ownToken: return "account_token"
        case .inheritedToken: return "inherited_token"
        case .claim: return "claim"
        case .move: return "operator_move"
        case nil: return nil
        }
    }
}
