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
