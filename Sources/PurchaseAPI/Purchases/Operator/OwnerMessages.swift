/// `POST /v1/customers/{id}/merge`: merges the customer in the path, such as an anonymous one, into another. It cannot
/// be undone.
public struct MergeRequest: Codable, Sendable, Equatable {
    /// The customer who remains and keeps the purchases of both.
    public var into: String
    /// The reason; it is recorded.
    public var reason: String?

    /// A merge into a customer.
    public init(into: String, reason: String? = nil) {
        self.into = into
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case into, reason
    }
}

extension MergeRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        into = members.identifier(CodingKeys.into)
        reason = members.optionalReason(CodingKeys.reason)
    }
}

/// A customer was merged into another, or has nothing to be merged.
public struct MergeMessage: Codable, Sendable, Equatable {
    /// The customer who was merged into another.
    public var customerID: String
    /// The customer who remains.
    public var into: String
    /// Whether both ids name the customer who remains; `false` if the server does not know the other one, or if they
    /// were merged into somebody else before, whom `into` names.
    public var merged: Bool
    /// Whether an earlier request merged them.
    public var replayed: Bool
    /// The reason; it is recorded.
    public var reason: String?

    public init(customerID: String, into: String, merged: Bool = true, replayed: Bool = false, reason: String? = nil) {
        self.customerID = customerID
        self.into = into
        self.merged = merged
        self.replayed = replayed
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case into, merged, replayed, reason
        case customerID = "customer_id"
    }
}

/// `POST /v1/purchases/{transaction_id}/move`: transfers a purchase to another customer; for a subscription, all of its
/// periods.
public struct MoveRequest: Codable, Sendable, Equatable {
    /// The new owner.
    public var customerID: String
    /// The environment of the transaction, if there are several of this id.
    public var environment: EnvironmentName?
    /// The reason; it is recorded.
    public var reason: String

    /// A new owner.
    public init(customerID: String, environment: EnvironmentName? = nil, reason: String) {
        self.customerID = customerID
        self.environment = environment
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case environment, reason
        case customerID = "customer_id"
    }
}

extension MoveRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        customerID = members.identifier(CodingKeys.customerID)
        environment = members.optionalIdentifier(CodingKeys.environment).map(EnvironmentName.init(rawValue:))
        reason = members.reason(CodingKeys.reason)
    }
}

/// A purchase has a new owner.
public struct MoveMessage: Codable, Sendable, Equatable {
    public var transactionID: String
    /// The new owner.
    public var customerID: String
    /// The customer into whom the new owner was merged; absent if they were not.
    public var mergedInto: String?
    /// The former owner; absent if there was none.
    public var formerCustomerID: String?
    /// The reason; it is recorded.
    public var reason: String

    public init(transactionID: String, customerID: String, formerCustomerID: String? = nil, reason: String) {
        self.transactionID = transactionID
        self.customerID = customerID
        self.formerCustomerID = formerCustomerID
        self.reason = reason
    }

    enum CodingKeys: String, CodingKey {
        case reason
        case transactionID = "transaction_id"
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case formerCustomerID = "former_customer_id"
    }
}

/// `PUT /v1/customers/{id}/app_account_token`: gives the customer an account token.
public struct AccountTokenRequest: Codable, Sendable, Equatable {
    /// The UUID that the app passes to StoreKit 2 (`appAccountToken`). It never belongs to another customer.
    public var appAccountToken: String

    public init(appAccountToken: String) {
        self.appAccountToken = appAccountToken
    }

    enum CodingKeys: String, CodingKey {
        case appAccountToken = "app_account_token"
    }
}

extension AccountTokenRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        appAccountToken = members.identifier(CodingKeys.appAccountToken)
    }
}

/// The account token of a customer.
public struct AccountTokenMessage: Codable, Sendable, Equatable {
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
    public var appAccountToken: String
    /// Whether the token named the customer before.
    public var replayed: Bool

    /// A token of a customer.
    public init(customerID: String, appAccountToken: String, replayed: Bool) {
        self.customerID = customerID
        self.appAccountToken = appAccountToken
        self.replayed = replayed
    }

    enum CodingKeys: String, CodingKey {
        case replayed
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case appAccountToken = "app_account_token"
    }
}
