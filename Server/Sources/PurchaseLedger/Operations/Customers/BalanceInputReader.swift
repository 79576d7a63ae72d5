public import PurchaseVerification

public import struct Foundation.UUID

/// Reads everything that determines a customer's balances at a time: lots, acts and the journal.
///
/// A customer with many lots has hardly any that something happened to. The database adds up the others. Those that
/// something happened to are read in pages, and each page takes the same number of statements.
struct BalanceInputReader {
    let reader: LedgerTransaction
    let moment: Timestamp

    private var connection: any LedgerConnection { reader.connection }

    /// The part of the input that determines balances.
    func input(of customer: Int64) throws(LedgerStorageError) -> EntitlementInput {
        let number = CustomerNumber(rawValue: customer)
        var input = EntitlementInput(customer: number, purchases: [])
        let touched = Set(try LotsTable(connection: connection).touched(of: customer))
        input.grants = try untouched(of: customer, for: number)
        var lots = Lots()
        for page in Self.pages(touched) {
            lots.rows.merge(try LotsTable(connection: connection).rows(page)) { first, _ in first }
            for history in try HistoryReader(transaction: reader).histories(page) {
                lots.grounds[history.key] = history.original.key
                for holder in history.holders {
                    input.purchases += history.purchases(of: holder, Ownership.stored(history))
                    input.revocations += history.handRevocations(of: holder)
                }
            }
        }
        let grants = HandGrantsTable(connection: connection)
        for row in try grants.rows(of: customer) where row.kind == .grant {
            let (grant, revocations) = try grants.grant(
                row, kind: try kind(of: row), product: try reader.products.id(row.productKey),
                environment: try reader.environments.environment(row.environment))
            input.grants.append(grant)
            input.revocations += revocations
        }
        input.consumptions = try consumptions(of: customer, lots)
        return input
    }

    /// The lots of purchases that were read one by one.
    private struct Lots {
        /// The numbers of the originals.
        var grounds: [OriginalKey: Int64] = [:]
        /// The lots, by the number of the original; held purchases have none.
        var rows: [Int64: LotRow] = [:]

        /// The lot of the purchase that an entry names.
        func row(_ take: LotTake) -> LotRow? {
            take.original.flatMap { grounds[$0] }.flatMap { rows[$0] }
        }

        /// The number under which the units of a lot are counted.
        func ground(_ source: AccessSource) -> Int64? {
            switch source {
            case .purchase(let ownership): grounds[ownership.original]
            case .grant(let key): -key
            case .passes: nil
            }
        }
    }

    /// The originals that are read together: fewer than an engine takes parameters.
    private static func pages(_ originals: Set<Int64>) -> [[Int64]] {
        let (sorted, size) = (originals.sorted(), 1000)
        return stride(from: 0, to: sorted.count, by: size).map { Array(sorted[$0..<min($0 + size, sorted.count)]) }
    }

    /// The untouched lots of each product as one grant of their sum, and one for those that have not begun. Together
    /// they give at this time what the lots give.
    private func untouched(
        of key: Int64, for customer: CustomerNumber
    ) throws(LedgerStorageError) -> [HandGrant] {
        var grants: [HandGrant] = []
        for sum in try LotsTable(connection: connection).untouched(of: key, at: moment) {
            grants.append(
                HandGrant(
                    // No entry has such a number.
                    entry: -Int64(grants.count) - 1, customer: customer,
                    productID: ExactText(try reader.products.id(sum.product)),
                    environment: try reader.environments.environment(sum.environment), kind: .consumable,
                    quantity: sum.quantity, from: sum.date))
        }
        return grants
    }

    /// A grant with a lot is one of a consumable.
    private func kind(of grant: HandGrantRow) throws(LedgerStorageError) -> ProductKind {
        if try LotsTable(connection: reader.connection).row(-grant.key) != nil { return .consumable }
        return try reader.entitlements.row(
            grant.customerKey, product: grant.productKey, environment: grant.environment, ground: -grant.key)?.kind
            ?? .nonConsumable
    }

    /// The customer's consumption with its lots, from the journal: units that were consumed, delivered with an order,
    /// or delivered before an import.
    private func consumptions(
        of customer: Int64, _ lots: Lots
    ) throws(LedgerStorageError) -> [ConsumedUnits] {
        let taken = try TakesTable(connection: connection).units(by: customer)
        guard !taken.isEmpty else { return [] }
        let journal = JournalTable(connection: connection)
        // Entries stay under the customer who was merged, and so do consumptions whose id both customers used.
        let family = try reader.customers.family(of: try reader.customers.row(customer))
        var consumptions: [ConsumedUnits] = []
        for key in family {
            for entry in try journal.consumptions(of: key) {
                guard let details = entry.details else { continue }
                let consumed = try ConsumedDetails(encoded: details)
                var takings: [ConsumedUnits.Taking] = []
                for take in consumed.takes {
                    guard let source = try source(of: take) else { continue }
                    takings.append(ConsumedUnits.Taking(lot: source, units: take.units))
                }
                consumptions.append(
                    ConsumedUnits(
                        customer: CustomerNumber(rawValue: customer), productID: ExactText(consumed.productID),
                        environment: AppStoreEnvironment(consumed.environment), date: entry.at, takings: takings))
            }
        }
        for key in family {
            for entry in try journal.rows(customer: key, kind: Int64(JournalKind.orderFulfilled.rawValue)) {
                guard let details = entry.details else { continue }
                consumptions += try delivered(
                    try OrderFulfilledDetails(encoded: details).takes, to: customer, at: entry.at, lots)
            }
        }
        // Imports are entries of claims, of which a customer has as many as purchases.
        var missing = taken
        for taking in consumptions.flatMap(\.takings) {
            if let ground = lots.ground(taking.lot) { missing[ground, default: 0] -= taking.units }
        }
        guard missing.contains(where: { $0.value > 0 }) else { return consumptions }
        for key in family {
            for entry in try journal.rows(customer: key, kind: Int64(JournalKind.claim.rawValue)) {
                guard let details = entry.details, let takes = try ClaimDetails(encoded: details).imported?.takes else {
                    continue
                }
                consumptions += try delivered(takes, to: customer, at: entry.at, lots)
            }
        }
        return consumptions
    }

    /// Units of purchases whose entry does not name the product, which is that of the lot.
    private func delivered(
        _ takes: [LotTake], to customer: Int64, at date: Timestamp, _ lots: Lots
    ) throws(LedgerStorageError) -> [ConsumedUnits] {
        var consumptions: [ConsumedUnits] = []
        for take in takes {
            guard let original = take.original, let lot = lots.row(take) else { continue }
            consumptions.append(
                ConsumedUnits(
                    customer: CustomerNumber(rawValue: customer),
                    productID: ExactText(try reader.products.id(lot.productKey)), environment: original.environment,
                    date: date,
                    takings: [ConsumedUnits.Taking(lot: .purchase(OwnershipKey(original: original)), units: take.units)]
                ))
        }
        return consumptions
    }

    private func source(of take: LotTake) throws(LedgerStorageError) -> AccessSource? {
        if let original = take.original { return .purchase(OwnershipKey(original: original)) }
        guard let id = take.grantID.flatMap({ UUID(uuidString: $0) }),
            let grant = try HandGrantsTable(connection: reader.connection).row(id: id)
        else { return nil }
        return .grant(grant.key)
    }
}

extension LotTake {
    /// The original of the purchase; `nil` for a grant.
    fileprivate var original: OriginalKey? {
        originalID.map { id in
            OriginalKey(
                environment: AppStoreEnvironment(environment), transactionID: ExactText(id), second: second ?? 0)
        }
    }
}

/// The units of one purchase or grant of a consumable.
public struct BalanceLot: Sendable, Equatable {
    /// The transaction; `nil` for a grant by an operator.
    public var transactionID: String?
    /// The grant by an operator; `nil` for a purchase.
    public var grantID: UUID?
    public var purchasedAt: Timestamp
    /// The units that were bought or granted.
    public var quantity: Int64
    /// Of these, the units that Apple withdrew.
    public var withdrawn: Int64
    /// Of these, the units that the customer used.
    public var taken: Int64
    /// The units that are left.
    public var available: Int64
}

extension BalanceLot {
    init(_ row: LotRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        (purchasedAt, quantity, withdrawn) = (row.purchasedAt, row.quantity, row.withdrawn)
        (taken, available) = (row.taken, row.available)
        if row.ground > 0 {
            transactionID = try OriginalsTable(connection: reader.connection).row(row.ground).originalID
        } else {
            grantID = try HandGrantsTable(connection: reader.connection).row(key: -row.ground)?.id
        }
    }
}

/// The purchases and grants that a customer's units of a consumable come from.
public struct LotsOfBalance: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var customerID: String
    public var productID: String
    public var environment: AppStoreEnvironment
    /// The largest number of lots with units left, and of lots without.
    public var limit: Int

    /// The lots of a balance.
    public init(app: String, customerID: String, productID: String, environment: AppStoreEnvironment, limit: Int) {
        (self.app, self.customerID, self.productID) = (app, customerID, productID)
        (self.environment, self.limit) = (environment, limit)
    }

    /// The lots.
    public struct Answer: Sendable, Equatable {
        /// Those with units left, in the order in which their units are used.
        public var available: [BalanceLot]
        /// Those without, the newest purchase first.
        public var empty: [BalanceLot]
        /// Whether there are more of either.
        public var hasMore: Bool
    }

    /// - Throws: `customer_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let customer = try reader.customer(customerID, app) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        guard let product = try reader.products.key(productID, appKey: app.key),
            let environment = try reader.environments.key(of: environment)
        else { return Answer(available: [], empty: [], hasMore: false) }
        let table = LotsTable(connection: reader.connection)
        let most = Int64(limit) + 1
        let available = try table.available(customer.key, product: product, environment: environment, limit: most)
        let empty = try table.empty(customer.key, product: product, environment: environment, limit: most)
        return Answer(
            available: try available.prefix(limit).map { try BalanceLot($0, reader) },
            empty: try empty.prefix(limit).map { try BalanceLot($0, reader) },
            hasMore: available.count > limit || empty.count > limit)
    }
}

/// The balances of a customer at a past time: sums over their lots and consumptions, since the rows have only the
/// current sums.
struct PastBalances {
    let reader: LedgerTransaction
    let app: RegistryApp

    /// Replaces the balances in entitlements.
    func replace(
        _ entitlements: [UncountedEntitlement], customer: CustomerRow, at moment: Timestamp
    ) throws(LedgerStorageError) -> [UncountedEntitlement] {
        guard entitlements.contains(where: { $0.entitlement.productKind == .consumable }) else { return entitlements }
        let input = try BalanceInputReader(reader: reader, moment: moment).input(of: customer.key)
        let access = CustomerEntitlements(input).access(.at(moment), refundShortfall: app.settings.refundShortfall)
        return entitlements.map { uncounted in
            var entitlement = uncounted.entitlement
            guard entitlement.productKind == .consumable else { return uncounted }
            let past = access.first {
                $0.productID == ExactText(entitlement.productID) && $0.environment == entitlement.environment
                    && $0.kind == .consumable
            }
            (entitlement.balance, entitlement.shortfall) = (past?.balance ?? 0, past?.shortfall ?? 0)
            // Without a past balance, all lots belong to another customer now, and none of them had been used at that
            // time.
            entitlement.reason = past.map(\.denial) ?? .ownedByAnother
            entitlement.state = Entitlement.State(entitlement.reason)
            return UncountedEntitlement(entitlement: entitlement)
        }
    }
}
