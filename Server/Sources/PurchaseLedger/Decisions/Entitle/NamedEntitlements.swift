import PurchaseVerification

extension [ProductAccess] {
    /// The named entitlements that the products give. Each name appears once; it is active if any of its products is, and ends
    /// with the latest of them.
    ///
    /// - Parameter names: the names in the settings of a product.
    public func named(_ names: (ExactText) -> [ExactText]) -> [NamedAccess] {
        var named: [ExactText: NamedAccess] = [:]
        for access in self {
            for name in names(access.productID) {
                var entry = named[name] ?? NamedAccess(name: name, isActive: false, until: nil, products: [])
                if access.isActive {
                    entry.until = entry.isActive ? Self.later(entry.until, access.until) : access.until
                    entry.isActive = true
                    if !entry.products.contains(access.productID) { entry.products.append(access.productID) }
                }
                named[name] = entry
            }
        }
        return named.values.sorted { $0.name < $1.name }
    }

    private static func later(_ left: Timestamp?, _ right: Timestamp?) -> Timestamp? {
        guard let left, let right else { return nil }
        return Swift.max(left, right)
    }
}
