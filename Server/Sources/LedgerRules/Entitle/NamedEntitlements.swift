public import PurchaseVerification

/// The rule for named entitlements: each name appears once; it is active if any of its products is, and ends with the
/// latest of them.
public enum NamedEntitlements {
    /// Products of which a customer has or had access.
    public struct Product: Sendable {
        public var productID: ExactText
        public var isActive: Bool
        /// When the access ends; `nil` if it has no end.
        public var until: Timestamp?

        /// Creates a product.
        public init(productID: ExactText, isActive: Bool, until: Timestamp?) {
            (self.productID, self.isActive, self.until) = (productID, isActive, until)
        }
    }

    /// The named entitlements that products give.
    ///
    /// - Parameter names: the names in the settings of a product.
    public static func named(_ products: [Product], names: (ExactText) -> [ExactText]) -> [NamedAccess] {
        var named: [ExactText: NamedAccess] = [:]
        for product in products {
            for name in names(product.productID) {
                var entry = named[name] ?? NamedAccess(name: name, isActive: false, until: nil, products: [])
                if product.isActive {
                    entry.until = entry.isActive ? later(entry.until, product.until) : product.until
                    entry.isActive = true
                    if !entry.products.contains(product.productID) { entry.products.append(product.productID) }
                }
                named[name] = entry
            }
        }
        return named.values.sorted { $0.name < $1.name }
    }

    private static func later(_ left: Timestamp?, _ right: Timestamp?) -> Timestamp? {
        guard let left, let right else { return nil }
        return max(left, right)
    }
}
