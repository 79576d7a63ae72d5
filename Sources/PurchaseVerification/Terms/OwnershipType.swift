/// Whether the customer bought a product or has it from somebody else, in signed transactions and in receipts (Apple,
/// "inAppOwnershipType").
public struct OwnershipType: OpenValue {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let purchased = Self(rawValue: "PURCHASED")
    /// The customer has it through Family Sharing.
    public static let familyShared = Self(rawValue: "FAMILY_SHARED")
    /// A seat that another purchaser pays for.
    public static let assigned = Self(rawValue: "ASSIGNED")

    /// The type as attribute 1722 of a receipt numbers it. The raw value of a number without a known meaning is the
    /// number.
    init(receiptNumber number: UInt64) {
        self =
            switch number {
            case 0: .purchased
            case 1: .familyShared
            default: Self(rawValue: "\(number)")
            }
    }
}
