/// The customer of each account token: tokens assigned to customers, and those of orders. A token belongs to one
/// customer for ever, and customers keep their former tokens.
public struct TokenAssignments: Sendable, Equatable {
    private var customers: [AppAccountToken: CustomerNumber] = [:]

    /// No assignments.
    public init() {}

    /// The token names another customer already (code `token_taken`).
    public struct TokenTaken: Error, Sendable, Equatable {
        /// The customer of a token.
        public let customer: CustomerNumber

        /// An error by the customer.
        public init(customer: CustomerNumber) { self.customer = customer }
    }

    /// Assigns a token; assigning it to the same customer again changes nothing.
    public mutating func assign(_ token: AppAccountToken, to customer: CustomerNumber) throws(TokenTaken) {
        if let taken = customers[token], taken != customer { throw TokenTaken(customer: taken) }
        customers[token] = customer
    }

    /// The customer that a token names; `nil` for an unknown token, which counts as absent.
    public func customer(of token: AppAccountToken?) -> CustomerNumber? { token.flatMap { customers[$0] } }
}
