/// Why the store refuses to do what it was asked.
public struct StoreError: Error, Hashable, Sendable {
    /// The stable code.
    public let code: Code
    /// The reason in words, with the facts.
    public let message: String

    /// The codes.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case unknownApp = "unknown_app"
        case unknownProduct = "unknown_product"
        case unknownCustomer = "unknown_customer"
        case unknownTransaction = "unknown_transaction"
        case unknownSubscription = "unknown_subscription"
        case unknownOffer = "unknown_offer"
        case unknownEvent = "unknown_event"
        /// There is one with this identifier already.
        case alreadyExists = "already_exists"
        /// The customer has this subscription already.
        case alreadySubscribed = "already_subscribed"
        /// The thing is in a state in which this cannot happen to it.
        case wrongState = "wrong_state"
        /// The product is not for sale.
        case notForSale = "not_for_sale"
        /// The customer may not have the offer.
        case notEligible = "not_eligible"
        /// The product cannot be shared with a family.
        case notShareable = "not_shareable"
        /// A value has a form or size that the store does not take.
        case invalidValue = "invalid_value"
        /// The clock can only be moved forward once something was sold.
        case clockBackwards = "clock_backwards"
        /// So many renewals would fall due that the move is refused as a whole.
        case tooManyRenewals = "too_many_renewals"
    }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension StoreError: CustomStringConvertible {
    /// The reason in words.
    public var description: String { message }
}
