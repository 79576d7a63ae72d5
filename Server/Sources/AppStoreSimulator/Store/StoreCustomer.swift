/// Somebody with an account in the store, and one device.
public struct StoreCustomer: Codable, Hashable, Sendable {
    /// What the store calls him.
    public let customerID: String
    /// Whether he pays.
    public let environment: StoreEnvironment
    /// What goes into the device hash of his receipts: a UUID, as `identifierForVendor` is.
    public let deviceID: String
    /// The country of his account, in three letters.
    public var storefront: String
}
