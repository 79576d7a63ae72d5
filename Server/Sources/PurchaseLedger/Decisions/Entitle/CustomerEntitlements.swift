public import PurchaseVerification

/// A customer's entitlements, and the reasons for denials (docs/ledger.md, "Entitle"), as a function of facts, owners,
/// consumption, manual grants and a time. The tables store `spans` and the sums of `lots`; a rebuild recomputes them with this
/// type.
public struct CustomerEntitlements: Sendable {
    /// The customer's periods of access, ordered by start.
    public let spans: [AccessSpan]
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
        var (spans, lots): ([AccessSpan], [ConsumableLot]) = ([], [])
        var passes: [ProductKey: [OwnedPurchase]] = [:]
        for (ownership, purchases) in Dictionary(grouping: input.purchases, by: \.ownership) {
            let original = ownership.original
            let renewal = input.renewals[
                RenewalKey(environment: original.environment, originalTransactionID: original.transactionID)]
            let access = OriginalAccess(
                purchases.inOrder(), renewal: renewal, revocations: revocations[.purchase(ownership)] ?? [])
            spans += access.spans
            lots += access.lots
            for pass in access.passes {
                guard let productID = pass.productID else { continue }
                passes[ProductKey(productID: productID, environment: original.environment), default: []].append(pass)
            }
        }
        for (_, passes) in passes {
            // Only the customer's own passes are chained.
            let (own, foreign) = (passes.filter { $0.owner == customer }, passes.filter { $0.owner != customer })
            spans += PassAccess.spans(of: own, revocations: input.revocations)
            spans += foreign.flatMap { PassAccess.spans(of: [$0]) }
        }
        for grant in input.grants where grant.customer == customer {
            let revocations = revocations[.grant(grant.entry)] ?? []
            if grant.kind == .consumable {
                lots.append(ConsumableLot(grant, revocations: revocations))
            } else {
                var list = SpanList()
                list.add(AccessSpan(grant), revocations: revocations)
                spans += SpanList.joined(list.spans)
            }
        }
        self.spans = spans.filter { $0.customer == customer }.sorted(by: AccessSpan.isBefore)
        self.lots = lots.sorted { $0.isBefore($1) }
    }

    /// Every product that the customer ever had, with its access at a time or the reason why there is none.
    public func access(at moment: Timestamp, refundShortfall: RefundShortfallPolicy) -> [ProductAccess] {
        // Purchases of one product can be of several kinds, if the settings changed or operators granted it.
        let products = Dictionary(grouping: spans) { span in
            KindKey(product: ProductKey(productID: span.productID, environment: span.environment), kind: span.kind)
        }
        let timed = products.compactMap { $0.value.access(at: moment) }
        return (timed + consumables(at: moment, refundShortfall)).sorted { left, right in
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

extension AccessSpan {
    /// The span of a manual grant of a product other than a consumable.
    init(_ grant: HandGrant) {
        self.init(
            customer: grant.customer, productID: grant.productID, environment: grant.environment, kind: grant.kind,
            source: .grant(grant.entry), from: grant.from, until: grant.until, transaction: nil, endReason: .expired)
    }
}

extension [AccessSpan] {
    /// The access of the spans of one customer, product and environment at a time; `nil` if there are none.
    public func access(at moment: Timestamp) -> ProductAccess? {
        guard let last = last(where: { $0.hasBegun(at: moment) }) ?? first else { return nil }
        var access = ProductAccess(
            productID: last.productID, environment: last.environment, kind: last.kind, denial: nil)
        let open = filter { $0.contains(moment) }
        guard let latest = open.max(by: AccessSpan.endsEarlier) else {
            access.denial = last.hasBegun(at: moment) ? last.endReason : .notStarted
            access.transaction = last.transaction
            return access
        }
        access.kind = latest.kind
        access.since = open.map(\.from).min()
        access.until = latest.until
        access.transaction = latest.transaction
        return access
    }
}

extension AccessSpan {
    fileprivate static func endsEarlier(_ left: AccessSpan, _ right: AccessSpan) -> Bool {
        guard let leftEnd = left.until else { return false }
        guard let rightEnd = right.until else { return true }
        return leftEnd < rightEnd
    }
}
