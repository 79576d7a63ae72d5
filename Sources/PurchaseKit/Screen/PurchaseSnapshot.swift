public import Foundation

/// What the customer may use, for widgets and other extensions: a copy of the moment when it was written. It is not
/// signed, so let it decide what is shown, and not what is delivered.
public struct PurchaseSnapshot: Sendable, Codable, Equatable {
    public var entitlements: [PurchaseEntitlement]
    public var writtenAt: Date

    /// A snapshot of entitlements.
    public init(entitlements: [PurchaseEntitlement], writtenAt: Date) {
        self.entitlements = entitlements
        self.writtenAt = writtenAt
    }

    /// Whether a product may be used at a moment: a widget's timeline asks for moments to come.
    public func isActive(_ productID: String, at moment: Date = Date()) -> Bool {
        entitlements.contains { entitlement in
            entitlement.productID == productID && entitlement.isActive
                && entitlement.until.map { $0 > moment } ?? true
        }
    }

    /// The remaining units of a consumable product when it was written.
    public func balance(_ productID: String) -> Int64 {
        entitlements.first { $0.productID == productID }?.balance ?? 0
    }
}
