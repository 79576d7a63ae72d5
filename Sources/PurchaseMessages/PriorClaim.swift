/// The holder of an earlier claim of a purchase (code `already_claimed`).
public struct PriorClaim: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// It belongs to another customer.
    public static let anotherCustomer = PriorClaim(rawValue: "another_customer")
    /// It paid another order.
    public static let anotherOrder = PriorClaim(rawValue: "another_order")
    /// It is a copy, made by restoring, of a consumable that was granted.
    public static let restoredCopy = PriorClaim(rawValue: "restored_copy")
}
