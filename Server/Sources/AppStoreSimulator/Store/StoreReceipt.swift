public import Foundation

/// The app receipt on a customer's device, as the store last made it.
public struct StoreReceipt: Codable, Hashable, Sendable {
    /// The app.
    public let bundleID: String
    /// The customer.
    public let customerID: String
    /// When it was made.
    public let creationDate: Date
    /// The version of the app then.
    public let applicationVersion: String
    /// When the customer first got the app.
    public let originalPurchaseDate: Date
    /// The transactions in it, as they were then, oldest first.
    public let transactions: [StoreTransaction]
}
