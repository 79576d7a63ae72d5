import PurchaseVerification

/// One ground of a customer's access to a product.
struct EntitlementRow: TableRow, Equatable {
    static let table = Table(
        "entitlements", key: nil,
        columns: [
            "customer_key", "product_key", "environment", "ground", "kind", "balance", "shortfall", "timeline",
            "reason",
        ])

    /// The ground of a balance.
    static let wholeGround: Int64 = 0
    /// The ground of a chain of passes. A product can have both, if its kind in the settings changed.
    static let passGround: Int64 = -9_223_372_036_854_775_807

    /// The ground of a claimed seat is this number minus that of the claim's entry. Such a row is not stored; it stands
    /// for a seat whose timeline follows from the subscription (`SeatReading`).
    static let seatGround: Int64 = -4_611_686_018_427_387_904

    var customerKey: Int64
    var productKey: Int64
    var environment: Int64
    /// An original's key, `wholeGround`, `passGround`, or the negative key of a manual grant.
    var ground: Int64
    var kind: ProductKind
    var balance: Int64
    var shortfall: Int64
    /// When the ground gives access, in its stored form; `nil` for a balance.
    var timeline: [UInt8]?
    /// Why a balance is empty; `nil` if it is not.
    var reason: NoAccessReason?

    /// The entry of the claimed seat that the row stands for; `nil` for a stored row.
    var seatEntry: Int64? {
        ground < Self.seatGround && ground != Self.passGround ? Self.seatGround - ground : nil
    }

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        customerKey = try reader.integer()
        productKey = try reader.integer()
        environment = try reader.integer()
        ground = try reader.integer()
        kind = try reader.named(ProductKind.self)
        balance = try reader.integer()
        shortfall = try reader.integer()
        timeline = try reader.optionalBlob()
        reason = try reader.optionalNamed(NoAccessReason.self)
    }

    init(customerKey: Int64, productKey: Int64, environment: Int64, ground: Int64, kind: ProductKind) {
        self.customerKey = customerKey
        self.productKey = productKey
        self.environment = environment
        self.ground = ground
        self.kind = kind
        (balance, shortfall) = (0, 0)
    }

    /// A balance.
    init(balance: (balance: Int64, shortfall: Int64), of customer: Int64, product: Int64, environment: Int64) {
        self.init(
            customerKey: customer, productKey: product, environment: environment, ground: Self.wholeGround,
            kind: .consumable)
        (self.balance, shortfall) = balance
    }

    /// A timeline.
    init(
        _ timeline: AccessTimeline, _ kind: ProductKind, of customer: Int64, product: Int64, environment: Int64,
        ground: Int64
    ) {
        self.init(customerKey: customer, productKey: product, environment: environment, ground: ground, kind: kind)
        self.timeline = timeline.encoded
    }

    /// A note of a lot that gives another customer nothing.
    init(note reason: NoAccessReason, of customer: Int64, product: Int64, environment: Int64, ground: Int64) {
        self.init(
            customerKey: customer, productKey: product, environment: environment, ground: ground, kind: .consumable)
        self.reason = reason
    }

    var values: [LedgerValue] {
        [
            .integer(customerKey), .integer(productKey), .integer(environment), .integer(ground), .text(kind.rawValue),
            .integer(balance), .integer(shortfall), .blob(timeline), .text(reason?.rawValue),
        ]
    }
}
