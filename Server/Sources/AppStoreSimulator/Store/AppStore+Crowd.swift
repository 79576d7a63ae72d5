import Foundation

extension AppStore {
    /// The greatest number of customers that one call may open.
    public static let largestCrowd = 100_000

    /// Opens accounts, and sells each of them the same product: the customers of an app that existed before.
    /// - Parameters:
    ///   - prefix: of the customers' identifiers, which end in `-1`, `-2`, ….
    ///   - count: 1 to `largestCrowd`.
    /// - Returns: the purchases, in the order of the customers.
    /// - Throws: `already_exists`, `invalid_value`, and the errors of a purchase.
    public mutating func sellToCrowd(
        _ productID: String, of bundleID: String, prefix: String, count: Int, environment: StoreEnvironment,
        storefront: String = "USA"
    ) throws(StoreError) -> [StoreTransaction] {
        guard (1...Self.largestCrowd).contains(count) else {
            throw StoreError(.invalidValue, "'count' is 1 to \(Self.largestCrowd) customers, not \(count).")
        }
        var sold: [StoreTransaction] = []
        for number in 1...count {
            let customer = try addCustomer("\(prefix)-\(number)", environment: environment, storefront: storefront)
            sold.append(try buy(productID, of: bundleID, by: customer.customerID))
        }
        return sold
    }
}
