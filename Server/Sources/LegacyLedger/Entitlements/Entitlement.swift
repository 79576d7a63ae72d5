public import PurchaseVerification

/// What a customer may use of a product, and why.
public struct Entitlement: Sendable, Equatable {
    public var key: EntitlementKey
    public var productKind: ProductKind
    /// What was recorded; `state(at:)` says what it is worth at a time.
    public var recordedState: RecordedState
    /// How many are left, of a consumable; 0 for other products.
    public var balance: Int64
    /// Since when.
    public var since: Timestamp
    /// Until when; `nil` for what does not end.
    public var until: Timestamp?
    /// The transaction that it rests on.
    public var transactionID: String
    /// Why it is so: `bought`, `renewed`, `extended`, `restored`, `moved`, `cancelled`, `revoked`, `upgraded`, `withdrawn`,
    /// `consumed`.
    public var reason: String
    public var updatedAt: Timestamp

    /// The state as it was recorded.
    public enum RecordedState: String, Sendable, CaseIterable {
        case active
        /// The App Store took back what it rested on.
        case withdrawn
        /// It went to another customer.
        case moved
    }

    /// The state at a time.
    public enum State: String, Sendable, CaseIterable {
        case active
        /// The balance is used up.
        case consumed
        /// The paid time has ended.
        case expired
        case withdrawn
        case moved
    }

    /// What it is worth at a time.
    public func state(at now: Timestamp) -> State {
        switch recordedState {
        case .withdrawn: .withdrawn
        case .moved: .moved
        case .active where productKind == .consumable: balance > 0 ? .active : .consumed
        case .active: until.map { $0 <= now } == true ? .expired : .active
        }
    }
}

/// Whose entitlement to what.
public struct EntitlementKey: Sendable, Hashable {
    public var app: String
    public var customerID: String
    public var productID: String
    public var environment: AppStoreEnvironment

    /// A key by its parts.
    public init(app: String, customerID: String, productID: String, environment: AppStoreEnvironment) {
        self.app = app
        self.customerID = customerID
        self.productID = productID
        self.environment = environment
    }

    /// What a purchase entitles to.
    init(_ purchase: RecordedPurchase) {
        self.init(
            app: purchase.app, customerID: purchase.customerID, productID: purchase.productID,
            environment: purchase.environment)
    }

    var values: [LedgerValue] { [.text(app), .text(customerID), .text(productID), .text(environment.name)] }
}

extension Entitlement {
    static let columns = """
        app, customer_id, product_id, environment, product_type, state, balance, since, until, transaction_id, reason, \
        updated_at
        """

    var values: [LedgerValue] {
        key.values + [
            .text(productKind.rawValue), .text(recordedState.rawValue), .integer(balance), .time(since), .time(until),
            .text(transactionID), .text(reason), .time(updatedAt),
        ]
    }

    init(_ row: LedgerRow) throws(LedgerStorageError) {
        var reader = RowReader(row)
        key = EntitlementKey(
            app: try reader.text(), customerID: try reader.text(), productID: try reader.text(),
            environment: AppStoreEnvironment(try reader.text()))
        productKind = try reader.named(ProductKind.self)
        recordedState = try reader.named(RecordedState.self)
        balance = try reader.integer()
        since = try reader.time()
        until = try reader.optionalTime()
        transactionID = try reader.text()
        reason = try reader.text()
        updatedAt = try reader.time()
    }
}
