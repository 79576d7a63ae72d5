public import Foundation

/// The present state of the customer's entitlement to a product.
public struct PurchaseEntitlement: Sendable, Codable, Equatable {
    public var productID: String
    public var environment: String?
    public var isActive: Bool
    /// Until when; `nil` if it does not end.
    public var until: Date?
    /// The remaining units; only for consumables.
    public var balance: Int64?
    /// What is known about the next renewal; only for auto-renewable subscriptions.
    public var renewal: PurchaseRenewal?
    public var source: Source
    /// The named entitlements of the server's settings that it gives, such as `pro`; `nil` if no answer said it.
    public var names: [String]?

    /// An entitlement, for the tests of an app.
    public init(
        productID: String, environment: String? = nil, isActive: Bool, until: Date? = nil, balance: Int64? = nil,
        renewal: PurchaseRenewal? = nil, source: Source = .device, names: [String]? = nil
    ) {
        (self.productID, self.environment, self.isActive, self.names) = (productID, environment, isActive, names)
        (self.until, self.balance, self.renewal, self.source) = (until, balance, renewal, source)
    }

    public enum Source: String, Sendable, Codable {
        /// The entitlement is in a signed answer of the server.
        case server
        /// The purchase was granted on this device, or the device verified a renewal that prolongs a signed answer
        /// until the server answers about it.
        case device
    }
}

extension [PurchaseEntitlement] {
    /// Whether a product is active, or one that gives the named entitlement.
    public func isActive(_ name: String) -> Bool {
        contains { $0.isActive && ($0.productID == name || $0.names?.contains(name) ?? false) }
    }

    func balance(of productID: String) -> Int64 { first { $0.productID == productID }?.balance ?? 0 }

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

/// The identity of a transaction: two environments may use the same numbers.
public struct PurchaseKey: Sendable, Codable, Hashable {
    /// The environment; `nil` if nothing signed names it yet.
    public var environment: String?
    public var transactionID: String

    public init(environment: String?, transactionID: String) {
        (self.environment, self.transactionID) = (environment, transactionID)
    }

    /// Whether both are the same transaction, as far as their environments are known.
    func matches(_ other: PurchaseKey) -> Bool {
        transactionID == other.transactionID
            && (environment == nil || other.environment == nil || environment == other.environment)
    }
}

/// The kind of a product, as signed evidence states it.
public enum PurchaseProductKind: String, Sendable, Codable {
    case consumable
    case nonConsumable = "non_consumable"
    case nonRenewingSubscription = "non_renewing_subscription"
    case autoRenewableSubscription = "auto_renewable_subscription"
}

public struct PurchaseCustomer: Sendable, Codable, Equatable {
    /// The customer's id in the purchase server.
    public var id: String
    /// The customer's UUID. The server returns it with each order, and purchases carry it.
    public var appAccountToken: UUID?

    public init(id: String, appAccountToken: UUID? = nil) {
        (self.id, self.appAccountToken) = (id, appAccountToken)
    }
}
