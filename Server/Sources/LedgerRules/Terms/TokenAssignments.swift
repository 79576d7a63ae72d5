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
