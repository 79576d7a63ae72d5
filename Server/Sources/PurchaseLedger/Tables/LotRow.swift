import PurchaseVerification

/// The units of one consumable purchase or manual grant. Each original has one lot, regardless of its copies.
struct LotRow: TableRow, Equatable {
    static let table = Table(
        "lots", key: nil,
        columns: [
            "ground", "customer_key", "product_key", "environment", "quantity", "withdrawn", "taken", "available",
            "purchased_at", "reason",
        ])

    /// The original's key, or the negative key of a manual grant.
    var ground: Int64
    /// The current owner.
    var customerKey: Int64
    var productKey: Int64
    var environment: Int64
    var quantity: Int64
    /// Units that Apple withdrew.
    var withdrawn: Int64
    /// Units that the current owner consumed.
    var taken: Int64
    var purchasedAt: Timestamp
    /// Why units were withdrawn; `nil` if none were.
    var reason: NoAccessReason?

    /// Units that can be consumed.
    var available: Int64 { part(of: customerKey, taken: taken).remaining }
    /// Units that were consumed and then withdrawn.
    var shortfall: Int64 { part(of: customerKey, taken: taken).shortfall }

    /// The part of the lot in the balance of a customer.
    func part(of customer: Int64, taken: Int64) -> ConsumableBalance {
        lot.part(of: CustomerNumber(rawValue: customer), taken: taken)
    }

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        ground = try reader.integer()
        customerKey = try reader.integer()
        productKey = try reader.integer()
        environment = try reader.integer()
        quantity = try reader.integer()
        withdrawn = try reader.integer()
        taken = try reader.integer()
        _ = try reader.integer()
        purchasedAt = try reader.time()
        let name = try reader.text()
        guard !name.isEmpty else { return }
        guard let known = NoAccessReason(rawValue: name) else {
            throw LedgerStorageError(.corrupt, "the reason of lot \(ground) cannot be read; run assay rebuild")
        }
        reason = known
    }

    init(
        ground: Int64, customerKey: Int64, productKey: Int64, environment: Int64, quantity: Int64,
        withdrawn: Int64, taken: Int64, purchasedAt: Timestamp, reason: NoAccessReason?
    ) {
        self.ground = ground
        self.customerKey = customerKey
        self.productKey = productKey
        self.environment = environment
        self.quantity = quantity
        self.withdrawn = withdrawn
        self.taken = taken
        self.purchasedAt = purchasedAt
        self.reason = reason
    }

    /// The row of a lot; `nil` if it is held.
    ///
    /// - Parameter taken: the units that its owner consumed.
    init?(_ lot: ConsumableLot, ground: Int64, product: Int64, environment: Int64, taken: Int64) {
        guard var lot = LotChange.Lot(lot, product: product) else { return nil }
        lot.taken = taken
        self.init(lot, ground: ground, environment: environment)
    }

    init(_ lot: LotChange.Lot, ground: Int64, environment: Int64) {
        self.init(
            ground: ground, customerKey: lot.owner.rawValue, productKey: lot.product, environment: environment,
            quantity: lot.quantity, withdrawn: lot.withdrawn, taken: lot.taken, purchasedAt: lot.purchasedAt,
            reason: lot.reason)
    }

    /// The lot without its place.
    var lot: LotChange.Lot {
        LotChange.Lot(
            owner: CustomerNumber(rawValue: customerKey), product: productKey, quantity: quantity,
            withdrawn: withdrawn, taken: taken, purchasedAt: purchasedAt, reason: reason)
    }

    var values: [LedgerValue] {
        [
            .integer(ground), .integer(customerKey), .integer(productKey), .integer(environment),
            .integer(quantity), .integer(withdrawn), .integer(taken), .integer(available), .time(purchasedAt),
            .text(reason?.rawValue ?? ""),
        ]
    }
}
