public import PurchaseVerification

/// A customer's entitlements, and the reasons for denials (docs/ledger.md, "Entitle"), as a function of facts, owners,
/// consumption, manual grants and a time. The tables store `grounds`, `lots` and their sums, and the audit compares
/// them with this type.
public struct CustomerEntitlements: Sendable {
    /// The grounds of the customer's access, each with its timeline.
    public let grounds: [AccessGround]
    /// The lots of consumables that the customer has, had or used.
    public let lots: [ConsumableLot]
    private let customer: CustomerNumber
    private let consumptions: [ConsumedUnits]

    /// Computes the entitlements of a customer.
    public init(_ input: EntitlementInput) {
        customer = input.customer
        let customer = input.customer
        consumptions = input.consumptions.filter { $0.customer == customer }
        let revocations = Dictionary(grouping: input.revocations, by: \.target)
        var (grounds, lots): ([AccessGround], [ConsumableLot]) = ([], [])
        var passes: [ProductKey: [OwnedPurchase]] = [:]
        for (ownership, purchases) in Dictionary(grouping: input.purchases, by: \.ownership) {
            let original = ownership.original
            let renewal = input.renewals[
                RenewalKey(environment: original.environment, originalTransactionID: original.transactionID)]
            let access = OriginalAccess(
                purchases.inOrder(), renewal: renewal, revocations: revocations[.purchase(ownership)] ?? [],
                status: input.statuses[ownership])
            grounds += access.grounds
            lots += access.lots
            for pass in access.passes {
                guard let productID = pass.productID else { continue }
                passes[ProductKey(productID: productID, environment: original.environment), default: []].append(pass)
            }
        }
        for (product, passes) in passes {
            grounds += PassAccess.grounds(
                of: customer, product: product.productID, passes, revocations: input.revocations)
        }
        for grant in input.grants where grant.customer == customer {
            let revocations = revocations[.grant(grant.entry)] ?? []
            if grant.kind == .consumable {
                lots.append(ConsumableLot(grant, revocations: revocations))
            } else {
                grounds.append(AccessGround(grant, revocations: revocations))
            }
        }
        self.grounds = grounds.filter { $0.customer == customer }
        self.lots = lots.sorted { $0.isBefore($1) }
    }

    /// Every product that the customer ever had, with its access at a time or the reason why there is none.
    public func access(_ question: AccessQuestion, refundShortfall: RefundShortfallPolicy) -> [ProductAccess] {
        // Purchases of one product can be of several kinds, if the settings changed or operators granted it.
        let products = Dictionary(grouping: grounds) { ground in
            KindKey(
                product: ProductKey(productID: ground.productID, environment: ground.environment), kind: ground.kind)
        }
        let timed = products.map { key, grounds in
            var access = ProductAccess(
                productID: key.product.productID, environment: key.product.environment, kind: key.kind,
                denial: .notStarted)
            access.read(grounds.map(\.timeline), question)
            return access
        }
        return (timed + consumables(at: question.moment, refundShortfall)).sorted { left, right in
            (left.productID, left.environment.name, left.kind?.rawValue ?? "")
                < (right.productID, right.environment.name, right.kind?.rawValue ?? "")
        }
    }

    /// The balance of each consumable at a time or, if that is `nil`, by all known facts, which gives the stored sums.
    public func balances(at moment: Timestamp? = nil) -> [ProductKey: ConsumableBalance] {
        var balances: [ProductKey: ConsumableBalance] = [:]
        var known: Set<LotKey> = []
        let taken = taken(until: moment)
        for lot in lots where lot.owner == customer || lot.others.contains(customer) || taken[lot.key] != nil {
            known.insert(lot.key)
            let part = ConsumableBalance(lot, of: customer, taken: taken[lot.key] ?? 0, at: moment)
            balances[lot.key.product, default: ConsumableBalance()] = balances[lot.key.product, default: .init()] + part
        }
        // Units taken from a lot that is not in the input belong to another customer now.
        for (key, units) in taken where !known.contains(key) {
            var part = ConsumableBalance()
            part.shortfall = units
            balances[key.product, default: ConsumableBalance()] = balances[key.product, default: .init()] + part
        }
        return balances
    }

    /// A product in an environment.
    public struct ProductKey: Sendable, Hashable {
        public let productID: ExactText
        public let environment: AppStoreEnvironment

        /// A key with a product id and an environment.
        public init(productID: ExactText, environment: AppStoreEnvironment) {
            self.productID = productID
            self.environment = environment
        }
    }

    private struct KindKey: Hashable {
        let product: ProductKey
        let kind: ProductKind?
    }

    fileprivate struct LotKey: Hashable {
        let product: ProductKey
        let source: AccessSource
    }

    private func taken(until moment: Timestamp?) -> [LotKey: Int64] {
        var taken: [LotKey: Int64] = [:]
        for consumption in consumptions where moment.map({ consumption.date <= $0 }) ?? true {
            let product = ProductKey(productID: consumption.productID, environment: consumption.environment)
            for taking in consumption.takings {
                let key = LotKey(product: product, source: taking.lot)
                taken[key] = (taken[key] ?? 0).saturatingSum(taking.units)
            }
        }
        return taken
    }

    private func consumables(at moment: Timestamp, _ policy: RefundShortfallPolicy) -> [ProductAccess] {
        let lots = Dictionary(grouping: lots, by: \.key.product)
        return balances(at: moment).map { product, balance in
            var access = ProductAccess(
                productID: product.productID, environment: product.environment, kind: .consumable, denial: nil)
            access.balance = balance.available(under: policy)
            access.shortfall = balance.shortfall
            access.transaction = lots[product]?.last?.transaction
            if access.balance == 0 {
                access.denial = balance.remaining > 0 ? .consumed : emptiness(of: lots[product] ?? [], at: moment)
            }
            return access
        }
    }
}

extension CustomerEntitlements {
    /// The reason for an empty balance: the one of the newest of the customer's own lots.
    private func emptiness(of lots: [ConsumableLot], at moment: Timestamp) -> NoAccessReason {
        let own = lots.filter { $0.owner == customer }
        guard !own.isEmpty else { return lots.contains { $0.owner != nil } ? .ownedByAnother : .held }
        let begun = own.filter { moment.isAtOrAfter(startOf: $0.date) }
        func name(_ lot: ConsumableLot) -> String { lot.denial(at: moment)?.rawValue ?? "" }
        guard let newest = begun.max(by: { ($0.date, name($0)) < ($1.date, name($1)) }) else { return .notStarted }
        return newest.denial(at: moment) ?? .consumed
    }
}

extension ConsumableLot {
    fileprivate var key: CustomerEntitlements.LotKey {
        CustomerEntitlements.LotKey(product: .init(productID: productID, environment: environment), source: source)
    }
}

extension AccessGround {
    /// The ground of a manual grant of a product other than a consumable.
    package init(_ grant: HandGrant, revocations: [HandRevocation]) {
        var list = SpanList()
        list.add(
            AccessSpan(
                customer: grant.customer, productID: grant.productID, environment: grant.environment, kind: grant.kind,
                source: .grant(grant.entry), from: grant.from, until: grant.until, transaction: nil,
                endReason: grant.isLifted ? .revokedByHand : .expired), revocations: revocations)
        self.init(
            customer: grant.customer, productID: grant.productID, environment: grant.environment, kind: grant.kind,
            source: .grant(grant.entry), timeline: AccessTimeline(list.spans))
    }
}

extension ProductAccess {
    /// The state that the timelines of a product give it at a time.
    ///
    /// - Parameter tolerance: how long access is assumed after the end of a period while the news of its renewal are
    ///   late, in milliseconds.
    package mutating func read(_ timelines: [AccessTimeline], _ question: AccessQuestion, tolerance: Int64 = 0) {
        let states = timelines.compactMap { $0.state(question) }
        guard let best = states.max(by: { $0.isBefore($1) }) else {
            denial = .notStarted
            transaction = timelines.compactMap(\.steps.first).min { $0.startsBefore($1) }?.transaction
            return
        }
        (until, transaction) = (best.step.until, best.step.transaction)
        guard best.step.givesAccess else {
            denial = best.step.reason
            assume(states, question, tolerance)
            return
        }
        denial = nil
        isInGrace = best.step.reason == .inGrace
        since = states.filter(\.step.givesAccess).map(\.since).min()
    }

    /// Assumed access exists for now only.
    private mutating func assume(_ states: [AccessTimeline.State], _ question: AccessQuestion, _ tolerance: Int64) {
        guard question.isAboutNow else { return }
        for state in states {
            guard let end = state.step.lapse?.assumedUntil(tolerance), question.moment < end else { continue }
            if isAssumed, let until, end <= until { continue }
            (denial, isAssumed) = (nil, true)
            (since, until, transaction) = (state.since, end, state.step.transaction)
        }
    }
}

extension AccessTimeline.Step {
    /// The order of steps of several grounds.
    fileprivate func startsBefore(_ other: AccessTimeline.Step) -> Bool {
        guard at == other.at else { return at < other.at }
        let ids = (transaction?.transactionID ?? "", other.transaction?.transactionID ?? "")
        return ExactText.isNumericallyBefore(ids.0, ids.1)
    }
}

/// The rule for named entitlements: each name appears once; it is active if any of its products is, and ends with the
/// latest of them.
public enum NamedEntitlements {
    /// Products of which a customer has or had access.
    public struct Product: Sendable {
        public var productID: ExactText
        public var isActive: Bool
        /// When the access ends; `nil` if it has no end.
        public var until: Timestamp?

        /// Creates a product.
        public init(productID: ExactText, isActive: Bool, until: Timestamp?) {
            (self.productID, self.isActive, self.until) = (productID, isActive, until)
        }
    }

    /// The named entitlements that products give.
    ///
    /// - Parameter names: the names in the settings of a product.
    public static func named(_ products: [Product], names: (ExactText) -> [ExactText]) -> [NamedAccess] {
        var named: [ExactText: NamedAccess] = [:]
        for product in products {
            for name in names(product.productID) {
                var entry = named[name] ?? NamedAccess(name: name, isActive: false, until: nil, products: [])
                if product.isActive {
                    entry.until = entry.isActive ? later(entry.until, product.until) : product.until
                    entry.isActive = true
                    if !entry.products.contains(product.productID) { entry.products.append(product.productID) }
                }
                named[name] = entry
            }
        }
        return named.values.sorted { $0.name < $1.name }
    }

    private static func later(_ left: Timestamp?, _ right: Timestamp?) -> Timestamp? {
        guard let left, let right else { return nil }
        return max(left, right)
    }
}
