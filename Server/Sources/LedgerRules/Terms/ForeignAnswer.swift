public import PurchaseVerification

/// What another system says about a customer: that they have a product or a named entitlement, until some time, or that
/// they do not.
public struct ForeignAnswer: Sendable, Equatable {
    public var customerID: String
    public var subject: Subject
    /// Whether the customer has access; `nil` if only the end says so.
    public var isActive: Bool?
    public var end: End
    /// The environment that the answer is about; `nil` for every purchase that counts for the customer.
    public var environment: AppStoreEnvironment?
    /// The time at which it was given; `nil` for now.
    public var moment: Timestamp?
    /// The transaction, or original transaction, on which it rests.
    public var transactionID: String?

    /// What the customer has or has not.
    public enum Subject: Sendable, Equatable {
        case product(String)
        /// A named entitlement of the settings.
        case entitlement(String)

        /// Its name.
        public var name: String {
            switch self {
            case .product(let name), .entitlement(let name): name
            }
        }
    }

    /// The end of the access.
    public enum End: Sendable, Equatable {
        case unstated
        case unlimited
        case at(Timestamp)
    }

    /// An answer.
    public init(customerID: String, _ subject: Subject, isActive: Bool?, end: End = .unstated) {
        (self.customerID, self.subject, self.isActive, self.end) = (customerID, subject, isActive, end)
    }

    /// Whether it gives access at a time. A table with a column for the end alone has rows that ended long ago.
    public func isActive(at moment: Timestamp) -> Bool {
        guard isActive ?? (end != .unstated) else { return false }
        guard case .at(let end) = end else { return true }
        return moment < end
    }
}
