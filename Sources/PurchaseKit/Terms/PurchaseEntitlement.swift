public import Foundation

/// The present state of the customer's entitlement to a product.
public struct PurchaseEntitlement: Sendable, Codable, Equatable {
    public var productID: String
    public var environment: String?
    /// Whether it is active now.
    public var isActive: Bool
    /// Until when; `nil` if it does not end.
    public var until: Date?
    /// The remaining units; only for consumables.
    public var balance: Int64?
    /// What is known about the next renewal; only for auto-renewable subscriptions.
    public var renewal: PurchaseRenewal?
    /// The origin of this entitlement.
    public var source: Source

    /// The origin of an entitlement.
    public enum Source: String, Sendable, Codable {
        /// The entitlement is in a signed answer of the server.
        case server
        /// The purchase was granted on this device, or the device verified a renewal that prolongs a signed answer
        /// until the server answers about it.
        case device
    }
}

extension [PurchaseEntitlement] {
    /// Whether both say the same. What is signed again without news has only another date of its signature.
    func sayTheSame(as other: [PurchaseEntitlement]) -> Bool { withoutSigningDates == other.withoutSigningDates }

    private var withoutSigningDates: [PurchaseEntitlement] {
        map { entitlement in
            var entitlement = entitlement
            entitlement.renewal?.signedAt = .distantPast
            return entitlement
        }
    }
}
