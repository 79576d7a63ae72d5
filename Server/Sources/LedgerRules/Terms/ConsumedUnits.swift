public import PurchaseVerification

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
