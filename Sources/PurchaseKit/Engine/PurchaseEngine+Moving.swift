public import Foundation

/// Moving purchases, and reports about the kit's state.
extension PurchaseEngine {
    /// Everything that was granted and consumed, as JSON, without evidence: for another device, or another store.
    public func exportPurchases() throws -> Data {
        try load()
        return try JSONEncoder.ofRecord.encode(ExportedPurchases(granted: record.granted, units: record.units))
    }

    /// Adds exported purchases. A purchase that is already in the record is not added again.
    ///
    /// The text is believed, so it must come from a place that the customer cannot write to.
    public func importPurchases(_ data: Data) throws {
        let exported = try JSONDecoder.ofRecord.decode(ExportedPurchases.self, from: data)
        try change { record in
            record.adopt(exported.granted)
            for (name, totals) in exported.units { record.units[name, default: UnitTotals()].add(totals) }
        }
    }

    /// Adds purchases that the app stored before it used the kit, such as those of RMStore's persistor. Give each a
    /// transaction id: a repeated call then adds nothing, for up to 5,000 consumables.
    public func adopt(_ purchases: [GrantedPurchase]) throws {
        try change { $0.adopt(purchases) }
    }

    private struct ExportedPurchases: Codable {
        var granted: [GrantedPurchase]
        var units: [String: UnitTotals]
    }

    /// The state of the kit for an error report.
    public func diagnostics() throws -> PurchaseDiagnostics {
        try load()
        return PurchaseDiagnostics(
            startedPurchases: record.started.count,
            waiting: record.outbox.map { entry in
                PurchaseDiagnostics.Waiting(
                    transactionID: entry.transaction.transactionID, productID: entry.transaction.productID,
                    environment: entry.transaction.environment, attempts: entry.attempts,
                    nextAttempt: entry.nextAttempt, code: entry.code?.rawValue, isDecided: entry.decision != nil,
                    hasCustomer: entry.customerID != nil, hasOrder: entry.orderID != nil)
            },
            grantedPurchases: record.granted.count, storedEntitlements: record.entitlements.count,
            isSignedIn: customer != nil, environment: record.environment, clockMark: record.mark.latest,
            isClockBehind: time.now < record.mark.latest ?? .distantPast)
    }
}

/// The state of the kit for an error report: no evidence, no key and no customer.
public struct PurchaseDiagnostics: Sendable, Codable, Equatable {
    public var startedPurchases: Int
    public var waiting: [Waiting]
    public var grantedPurchases: Int
    public var storedEntitlements: Int
    public var isSignedIn: Bool
    /// The environment of this installation of the app.
    public var environment: String?
    /// The latest time that was seen.
    public var clockMark: Date?
    /// Whether the device's clock is behind it.
    public var isClockBehind: Bool

    /// A state, for the tests of an app.
    public init(
        startedPurchases: Int = 0, waiting: [Waiting] = [], grantedPurchases: Int = 0, storedEntitlements: Int = 0,
        isSignedIn: Bool = false, environment: String? = nil, clockMark: Date? = nil, isClockBehind: Bool = false
    ) {
        (self.startedPurchases, self.waiting, self.grantedPurchases) = (startedPurchases, waiting, grantedPurchases)
        (self.storedEntitlements, self.isSignedIn) = (storedEntitlements, isSignedIn)
        (self.environment, self.clockMark, self.isClockBehind) = (environment, clockMark, isClockBehind)
    }

    /// A transaction that is not finished.
    public struct Waiting: Sendable, Codable, Equatable {
        public var transactionID: String?
        public var productID: String
        public var environment: String?
        public var attempts: Int
        public var nextAttempt: Date?
        public var code: String?
        public var isDecided: Bool
        public var hasCustomer: Bool
        public var hasOrder: Bool

        public init(
            transactionID: String? = nil, productID: String, environment: String? = nil, attempts: Int = 0,
            nextAttempt: Date? = nil, code: String? = nil, isDecided: Bool = false, hasCustomer: Bool = false,
            hasOrder: Bool = false
        ) {
            (self.transactionID, self.productID, self.environment) = (transactionID, productID, environment)
            (self.attempts, self.nextAttempt, self.code) = (attempts, nextAttempt, code)
            (self.isDecided, self.hasCustomer, self.hasOrder) = (isDecided, hasCustomer, hasOrder)
        }
    }
}
