import LegacyLedger

/// What the ledger must come to, in the simplest words: dictionaries, and every entitlement worked out anew each time.
struct LedgerModel {
    struct Thing: Equatable {
        var transaction: String
        var original: String
        var product: String
        var kind: ProductKind
        var quantity: Int64
        var purchased: Int64
        var expires: Int64?
    }

    struct Granted {
        var thing: Thing
        var owner: String
        var order: String?
        var isWithdrawn: Bool { withdrawn != nil }
        /// When the store took it back.
        var withdrawn: Int64?
    }

    struct OrderState {
        var customer: String
        var product: String
        var quantity: Int64
        var expires: Int64
        var status: OrderStatus = .created
    }

    enum Verdict: Equatable {
        case accepted
        case replayed
        case rejected
    }

    static let passDuration: Int64 = 30 * 86_400_000
    let isMoving: Bool
    var orders: [String: OrderState] = [:]
    /// In the order of their recording.
    var granted: [Granted] = []
    var balances: [String: Int64] = [:]
    /// What the store took back, whether anybody had it or not.
    var cancelled: [Thing] = []
    /// Who owned something of a product once, and does not any more.
    var touched: Set<String> = []

    init(isMoving: Bool) {
        self.isMoving = isMoving
    }

    /// Whether two things are the same bought: restoring makes copies.
    private func isCopy(_ left: Thing, _ right: Thing) -> Bool {
        left.original == right.original && (left.kind != .autoRenewable || left.expires == right.expires)
    }

    mutating func submit(
        _ thing: Thing, isCancelled: Bool, alsoCancelled: Thing?, product: String, customer: String?, order: String?,
        now: Int64, cancelledAt: Int64
    ) -> Verdict {
        for gone in [isCancelled ? thing : nil, alsoCancelled].compactMap(\.self) {
            cancelled.append(gone)
            for index in granted.indices where isCopy(granted[index].thing, gone) && !granted[index].isWithdrawn {
                withdraw(index, at: cancelledAt)
            }
        }
        let copies = granted.indices.filter { isCopy(granted[$0].thing, thing) }
        if cancelled.contains(where: { isCopy($0, thing) }) || product != thing.product { return .rejected }
        let paid = order.flatMap { orders[$0] }
        guard let owner = order == nil ? customer : paid?.customer, customer == nil || customer == owner else {
            return .rejected
        }
        if let index = granted.firstIndex(where: { $0.thing.transaction == thing.transaction }) {
            return granted[index].owner == owner && (order == nil || order == granted[index].order)
                ? .replayed : .rejected
        }
        if !copies.isEmpty, order != nil || thing.kind == .consumable { return .rejected }
        let family = granted.indices.filter { granted[$0].thing.original == thing.original }
        let isOfAnother = family.contains { granted[$0].owner != owner }
        if isOfAnother, !isMoving || thing.kind == .consumable || thing.kind == .nonRenewing { return .rejected }
        if thing.kind == .autoRenewable, thing.expires.map({ $0 <= now }) ?? true { return .rejected }
        if thing.kind == .nonRenewing {
            let own = granted.filter { $0.owner == owner && $0.thing.product == thing.product }
            let (before, after) = (Self.passEnd(own), Self.passEnd(own + [Granted(thing: thing, owner: owner)]))
            let isWorthless = copies.isEmpty && before == after
            if isWorthless || (after ?? 0) <= now { return .rejected }
        }
        if let paid {
            // What is restored was not paid again.
            if thing.kind == .nonConsumable, thing.transaction != thing.original { return .rejected }
            guard paid.status == .created, paid.expires > now, paid.product == thing.product,
                paid.quantity == thing.quantity
            else { return .rejected }
        }
        for index in family where granted[index].owner != owner {
            touched.insert("\(granted[index].owner) \(granted[index].thing.product)")
            granted[index].owner = owner
        }
        granted.append(Granted(thing: thing, owner: owner, order: order))
        touched.insert("\(owner) \(thing.product)")
        if let order { orders[order]?.status = .paid }
        if thing.kind == .consumable { balances[owner, default: 0] += thing.quantity }
        return .accepted
    }

    private mutating func withdraw(_ index: Int, at time: Int64) {
        granted[index].withdrawn = time
        let gone = granted[index]
        if let order = gone.order { orders[order]?.status = .refunded }
        if gone.thing.kind == .consumable {
            balances[gone.owner] = max(0, (balances[gone.owner] ?? 0) - gone.thing.quantity)
        }
    }

    mutating func consume(_ quantity: Int64, customer: String) -> Bool {
        guard balances[customer, default: 0] >= quantity else { return false }
        balances[customer, default: 0] -= quantity
        return true
    }

    /// What a customer may use, by product: whether it counts now, how many are left, and until when.
    func entitlements(of customer: String, now: Int64) -> [String: Right] {
        var rights: [String: Right] = [:]
        for name in touched where name.hasPrefix("\(customer) ") {
            let product = String(name.dropFirst(customer.count + 1))
            let things = granted.filter { $0.owner == customer && $0.thing.product == product && !$0.isWithdrawn }
                .map(\.thing).sorted { ($0.purchased, $0.transaction) < ($1.purchased, $1.transaction) }
            if granted.contains(where: { $0.thing.product == product && $0.thing.kind == .consumable }) {
                let balance = balances[customer] ?? 0
                rights[product] = Right(isActive: balance > 0, balance: balance, until: nil)
                continue
            }
            guard let kind = things.first?.kind else {
                rights[product] = Right(isActive: false, balance: 0, until: nil)
                continue
            }
            var until: Int64?
            switch kind {
            case .consumable, .nonConsumable: break
            case .autoRenewable: until = things.compactMap(\.expires).max()
            case .nonRenewing:
                until = Self.passEnd(granted.filter { $0.owner == customer && $0.thing.product == product })
            }
            rights[product] = Right(isActive: until.map { $0 > now } ?? true, balance: 0, until: until)
        }
        return rights
    }

    /// When the last pass ends: one after the other, in the order of their purchase. What was taken back took time until then.
    static func passEnd(_ granted: [Granted]) -> Int64? {
        var (seen, taken, end): (Set<String>, Int64, Int64?) = ([], .min, nil)
        for pass in granted.sorted(by: {
            ($0.thing.purchased, $0.thing.transaction) < ($1.thing.purchased, $1.thing.transaction)
        }) where seen.insert(pass.thing.original).inserted {
            let next = max(taken, pass.thing.purchased) + passDuration
            if let withdrawn = pass.withdrawn {
                taken = max(taken, min(next, withdrawn))
            } else {
                (taken, end) = (next, next)
            }
        }
        return end
    }

    struct Right: Equatable {
        var isActive: Bool
        var balance: Int64
        /// Only of what is not taken back.
        var until: Int64?
    }
}
