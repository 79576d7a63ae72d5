import Foundation

extension AppStore {
    /// Puts an app on sale.
    /// - Parameters:
    ///   - appID: its number; nil takes the next free number.
    ///   - sharedSecret: the secret that `verifyReceipt` requires; nil requires none.
    ///   - gracePeriodDays: 0, 3, 16 or 28, as the store offers them.
    /// - Throws: `already_exists`, `invalid_value`.
    @discardableResult
    public mutating func addApp(
        bundleID: String, appID: UInt64? = nil, name: String? = nil, version: String = "1.0",
        sharedSecret: String? = nil, gracePeriodDays: Int = 0, environmentNames: EnvironmentNames = .simulator
    ) throws(StoreError) -> StoreApp {
        try Self.check(bundleID, "bundle id")
        guard [0, 3, 16, 28].contains(gracePeriodDays) else {
            throw StoreError(.invalidValue, "A grace period has 0, 3, 16 or 28 days, not \(gracePeriodDays).")
        }
        guard state.apps[bundleID] == nil else {
            throw StoreError(.alreadyExists, "The app '\(bundleID)' already exists.")
        }
        state.summary.apps += 1
        let app = StoreApp(
            bundleID: bundleID, appID: appID ?? 1_600_000_000 + UInt64(state.summary.apps),
            name: name ?? bundleID, version: version, sharedSecret: sharedSecret, gracePeriodDays: gracePeriodDays,
            environmentNames: environmentNames)
        state.apps[bundleID] = app
        return app
    }

    /// Releases an app, or makes it one that was never released: production refuses its API tokens then.
    /// - Throws: `unknown_app`.
    @discardableResult
    mutating func setReleased(_ isReleased: Bool, _ bundleID: String) throws(StoreError) -> StoreApp {
        var app = try app(bundleID)
        app.isReleased = isReleased
        state.apps[bundleID] = app
        return app
    }

    /// Puts a product on sale.
    /// - Parameters:
    ///   - price: in thousandths of the currency.
    ///   - subscription: the terms; needed for auto-renewable subscriptions, and for no other kind.
    /// - Throws: `unknown_app`, `already_exists`, `invalid_value`.
    @discardableResult
    public mutating func addProduct(
        bundleID: String, productID: String, kind: StoreProduct.Kind, price: Int64 = 990, currency: String = "USD",
        isFamilyShareable: Bool = false, subscription: StoreProduct.Terms? = nil
    ) throws(StoreError) -> StoreProduct {
        _ = try app(bundleID)
        try Self.check(productID, "product id")
        guard (0...1_000_000_000).contains(price) else {
            throw StoreError(.invalidValue, "A price is 0 to 1000000000 thousandths, not \(price).")
        }
        guard (kind == .autoRenewable) == (subscription != nil) else {
            throw StoreError(.invalidValue, "Auto-renewable subscriptions need terms; other products have none.")
        }
        for offer in subscription?.offers ?? [] {
            guard (1...60).contains(offer.periods), (0...1_000_000_000).contains(offer.price) else {
                throw StoreError(.invalidValue, "The offer '\(offer.offerID)' has an invalid length or price.")
            }
        }
        guard state.products[StoreState.key(bundleID, productID)] == nil else {
            throw StoreError(.alreadyExists, "The app '\(bundleID)' already has a product '\(productID)'.")
        }
        state.summary.products += 1
        let product = StoreProduct(
            bundleID: bundleID, productID: productID, kind: kind,
            productNumber: 1_700_000_000 + UInt64(state.summary.products), price: price, currency: currency,
            isFamilyShareable: isFamilyShareable, isForSale: true, subscription: subscription)
        state.products[StoreState.key(bundleID, productID)] = product
        return product
    }

    /// Removes a product from sale, or puts it on sale again. Existing purchases stay valid; renewals stop.
    /// - Throws: `unknown_product`.
    @discardableResult
    public mutating func setForSale(
        _ isForSale: Bool, _ productID: String, of bundleID: String
    ) throws(StoreError) -> StoreProduct {
        var product = try product(productID, of: bundleID)
        product.isForSale = isForSale
        state.products[StoreState.key(bundleID, productID)] = product
        return product
    }

    /// Opens an account.
    /// - Parameters:
    ///   - customerID: nil takes the next free `customer-1`, `customer-2`, ….
    ///   - deviceID: a UUID; nil derives it from the customer's identifier.
    /// - Throws: `already_exists`, `invalid_value`.
    @discardableResult
    public mutating func addCustomer(
        _ customerID: String? = nil, environment: StoreEnvironment = .sandbox, deviceID: String? = nil,
        storefront: String = "USA"
    ) throws(StoreError) -> StoreCustomer {
        state.summary.customers += 1
        let customerID = customerID ?? "customer-\(state.summary.customers)"
        try Self.check(customerID, "customer id")
        guard state.customers[customerID] == nil else {
            throw StoreError(.alreadyExists, "The customer '\(customerID)' already exists.")
        }
        let device: UUID?
        if let deviceID {
            device = UUID(uuidString: deviceID)
        } else {
            device = UUID(derivedFrom: "device|\(customerID)")
        }
        guard let device else {
            throw StoreError(.invalidValue, "A device id is a UUID.")
        }
        let customer = StoreCustomer(
            customerID: customerID, environment: environment, deviceID: device.uuidString, storefront: storefront)
        state.customers[customerID] = customer
        return customer
    }

    private static func check(_ identifier: String, _ what: String) throws(StoreError) {
        // Keys are joined with a vertical bar, and control characters would garble output for people.
        let isFine = identifier.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7F && $0 != "|" && $0 != "/"
        }
        guard isFine, (1...255).contains(identifier.utf8.count) else {
            throw StoreError(.invalidValue, "A \(what) has 1 to 255 bytes, and no space, '|' or '/'.")
        }
    }
}
