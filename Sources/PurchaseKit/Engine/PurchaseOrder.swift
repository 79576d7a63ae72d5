public import Foundation

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
