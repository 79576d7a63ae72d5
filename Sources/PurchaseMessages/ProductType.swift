/// The kind of a product.
public struct ProductType: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let consumable = ProductType(rawValue: "consumable")
    public static let nonConsumable = ProductType(rawValue: "non_consumable")
    public static let autoRenewable = ProductType(rawValue: "auto_renewable")
    public static let nonRenewing = ProductType(rawValue: "non_renewing")
}
