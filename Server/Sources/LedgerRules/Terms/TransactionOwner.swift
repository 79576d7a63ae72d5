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
        /// By a claim under the policy `move`, or by a restore that took it over from a guest.
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
        /// A restore that the customer asked for took the original over from a guest (`GuestTakeover`).
        case takeOver(transaction: TransactionKey, from: CustomerNumber, by: CustomerNumber)
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

/// The customer of each account token: tokens assigned to customers, and those of orders. A token belongs to one
/// customer forever, and customers keep their earlier tokens.
public struct TokenAssignments: Sendable, Equatable {
    private var customers: [AppAccountToken: CustomerNumber] = [:]
    /// The erased customers whose forgotten tokens transactions carry that were known at the erasure.
    private var kept: [TransactionKey: CustomerNumber] = [:]

    /// No assignments.
    public init() {}

    /// Assignments that are known.
    init(_ customers: [AppAccountToken: CustomerNumber]) { self.customers = customers }

    /// The token already belongs to another customer (code `token_taken`).
    public struct TokenTaken: Error, Sendable, Equatable {
        /// The customer of a token.
        public let customer: CustomerNumber

        /// Creates an error with the customer.
        public init(customer: CustomerNumber) { self.customer = customer }
    }

    /// Assigns a token; assigning it to the same customer again changes nothing.
    public mutating func assign(_ token: AppAccountToken, to customer: CustomerNumber) throws(TokenTaken) {
        if let taken = customers[token], taken != customer { throw TokenTaken(customer: taken) }
        customers[token] = customer
    }

    package mutating func keep(_ customer: CustomerNumber, of transaction: TransactionKey) {
        kept[transaction] = customer
    }

    /// The customer whose token a transaction carries.
    package func customer(of transaction: ObservedTransaction) -> CustomerNumber? {
        kept[transaction.key] ?? customer(of: transaction.accountToken)
    }

    /// The customer of a token; `nil` for an unknown token, which counts as absent.
    public func customer(of token: AppAccountToken?) -> CustomerNumber? { token.flatMap { customers[$0] } }
}

/// The merges of customers. A merge is permanent, and a merged customer is never merged again.
public struct CustomerMerges: Sendable, Equatable {
    private var targets: [CustomerNumber: CustomerNumber] = [:]

    /// No merges.
    public init() {}

    /// The reasons why a merge is refused.
    public enum Refusal: Error, Sendable, Equatable {
        /// Both names already belong to the same customer, so the merge would be a cycle or change nothing.
        case sameCustomer
        /// The customer was merged before, into this one.
        case alreadyMerged(into: CustomerNumber)
    }

    /// Merges a customer into another, who keeps the purchases of both.
    public mutating func merge(_ customer: CustomerNumber, into target: CustomerNumber) throws(Refusal) {
        if let earlier = targets[customer] { throw .alreadyMerged(into: resolve(earlier)) }
        let target = resolve(target)
        guard target != customer else { throw .sameCustomer }
        targets[customer] = target
    }

    /// The customer that remains after all merges of a customer. Targets are stored as they were at the time, so the
    /// path is as long as the chain of merges; it has no cycle, because `merge` refuses one.
    public func resolve(_ customer: CustomerNumber) -> CustomerNumber {
        var resolved = customer
        while let target = targets[resolved] { resolved = target }
        return resolved
    }
}

/// A customer, by the number that the ledger's tables use. Only the table of customers has the outside name.
public struct CustomerNumber: RawRepresentable, Sendable, Hashable, Comparable {
    /// The number.
    public let rawValue: Int64

    /// Creates a customer number.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: CustomerNumber, right: CustomerNumber) -> Bool { left.rawValue < right.rawValue }
}
