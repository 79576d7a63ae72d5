/// A customer with an account in the store, and one device.
public struct StoreCustomer: Codable, Hashable, Sendable {
    /// The store's identifier of the customer.
    public let customerID: String
    /// Whether the customer pays.
    public let environment: StoreEnvironment
    /// The device identifier in the device hash of the customer's receipts: a UUID, as `identifierForVendor` is.
    public let deviceID: String
    /// The country of the account, in three letters.
    public var storefront: String
}
