public import Foundation

/// The customer who is signed in.
public struct PurchaseCustomer: Sendable, Codable, Equatable {
    /// The customer's id in the purchase server.
    public var id: String
    /// The customer's UUID. The server returns it with each order, and purchases carry it.
    public var appAccountToken: UUID?

    /// A customer.
    public init(id: String, appAccountToken: UUID? = nil) {
        self.id = id
        self.appAccountToken = appAccountToken
    }
}

/// An order that the app's backend made with `POST /v1/orders`.
public struct PurchaseOrder: Sendable, Equatable {
    public var orderID: String
    /// `app_account_token` of the order.
    public var appAccountToken: UUID?

    /// An order.
    public init(orderID: String, appAccountToken: UUID? = nil) {
        self.orderID = orderID
        self.appAccountToken = appAccountToken
    }
}
