public import PurchaseVerification

/// What the ledger knows of a purchase about whose use Apple asks.
public struct ConsumptionSituation: Sendable, Equatable, Codable {
    /// The customer's consent that their use is told to Apple.
    public enum Consent: String, Sendable, Codable {
        /// The customer was not asked, or their answer is not recorded.
        case unknown
        case given
        case refused
    }

    /// Who has the purchase.
    public enum Holder: String, Sendable, Codable {
        case buyer
        /// A member of the buyer's family.
        case family
        /// A member to whom a seat was assigned.
        case seat
    }

    public var productID: String?
    /// The kind of product under the settings (`ProductKind`); `nil` if they do not have it, so that it gives nothing.
    public var kind: String?
    public var holder: Holder
    /// Whether a customer owns it.
    public var isOwned: Bool
    public var consent: Consent
    /// The purchased units.
    public var quantity: Int64
    /// The units of a consumable that its owner took, by consuming them or by an order that was fulfilled.
    public var used: Int64
    /// Whether the owner has it: the order that it paid was delivered at least in part or, without an order, it counts
    /// for its owner.
    public var isDelivered: Bool
    /// Whether Apple has taken all or a part of it back already.
    public var isWithdrawn: Bool

    /// A situation by its parts.
    public init(
        productID: String?, kind: ProductKind?, holder: Holder, isOwned: Bool, consent: Consent, quantity: Int64,
        used: Int64, isDelivered: Bool, isWithdrawn: Bool
    ) {
        self.productID = productID
        self.kind = kind?.rawValue
        self.holder = holder
        self.isOwned = isOwned
        self.consent = consent
        self.quantity = quantity
        self.used = used
        self.isDelivered = isDelivered
        self.isWithdrawn = isWithdrawn
    }

    package var productKind: ProductKind? { kind.flatMap(ProductKind.init(rawValue:)) }
}

/// What Apple is told about the use of a purchase (Apple, "ConsumptionRequest"). It is only made with the customer's
/// consent.
public struct ConsumptionAnswer: Sendable, Equatable, Codable {
    /// Whether it was delivered; otherwise Apple is told that it was not, for a reason that has no name of its own.
    public var isDelivered: Bool
    /// The used part in thousandths of a percent, from 0 to 100,000; `nil` if it is not measured, and for
    /// auto-renewable subscriptions, of which Apple takes none.
    public var percentage: Int64?
    public var preference: PreferredRefund
    public var providesSample: Bool

    /// An answer by its parts.
    public init(isDelivered: Bool, percentage: Int64?, preference: PreferredRefund, providesSample: Bool) {
        self.isDelivered = isDelivered
        self.percentage = percentage
        self.preference = preference
        self.providesSample = providesSample
    }
}

/// Units of a consumable that a customer used, and the lots from which they were taken.
public struct ConsumedUnits: Sendable, Hashable {
    public var customer: CustomerNumber
    public var productID: ExactText
    public var environment: AppStoreEnvironment
    /// When they were used.
    public var date: Timestamp
    /// The lots, each with the units taken from it.
    public var takings: [Taking]

    /// Units taken from one lot.
    public struct Taking: Sendable, Hashable {
        public var lot: AccessSource
        /// The number of units.
        public var units: Int64

        /// Creates a taking.
        public init(lot: AccessSource, units: Int64) {
            self.lot = lot
            self.units = units
        }
    }

    /// Creates a consumption.
    public init(
        customer: CustomerNumber, productID: ExactText, environment: AppStoreEnvironment, date: Timestamp,
        takings: [Taking]
    ) {
        self.customer = customer
        self.productID = productID
        self.environment = environment
        self.date = date
        self.takings = takings
    }
}
