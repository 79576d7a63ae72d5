import PurchaseVerification

/// The grounds and lots that the purchases of one holder of an original give, for any owner. Passes are not included,
/// because those of one customer and product are chained across originals (`PassAccess`); only the reasons why they
/// give nothing are.
public struct OriginalAccess: Sendable {
    /// The grounds of subscriptions and non-consumables, with the reasons why purchases of an unknown kind give
    /// nothing.
    public let grounds: [AccessGround]
    /// Lots of consumables.
    public let lots: [ConsumableLot]
    /// Passes, for `PassAccess`.
    public let passes: [OwnedPurchase]

    /// Computes the grounds and lots of an original.
    ///
    /// - Parameters:
    ///   - purchases: every purchase of one `OwnershipKey`, in the order of `PurchaseGrouping`.
    ///   - renewal: the renewal facts of the original.
    ///   - revocations: the manual revocations of the original.
    ///   - status: the newest signed status of the subscription.
    public init(
        _ purchases: [OwnedPurchase], renewal: ObservedRenewal?, revocations: [HandRevocation] = [],
        status: SignedStatus? = nil
    ) {
        var periods: [OwnedPurchase] = []
        var (spans, lots, passes): ([AccessSpan], [ConsumableLot], [OwnedPurchase]) = ([], [], [])
        for purchase in purchases {
            // The kind stated by the evidence selects the rule; if the settings differ, the rule refuses the purchase.
            switch purchase.statedKind ?? purchase.terms?.kind {
            case .autoRenewable: periods.append(purchase)
            case .nonRenewing: passes.append(purchase)
            case .consumable: lots += [ConsumableLot(purchase, revocations: revocations)].compactMap(\.self)
            case .nonConsumable, nil: spans += NonConsumableAccess.spans(of: purchase, revocations: revocations)
            }
        }
        // The chain of passes is computed for each customer. These are only the reasons why it gives others nothing.
        spans += passes.flatMap(PassAccess.notes)
        grounds =
            spans.grounds
            + SubscriptionAccess.grounds(of: periods, renewal: renewal, revocations: revocations, status: status)
        (self.lots, self.passes) = (lots, passes)
    }
}

/// The rule for non-consumables: access from the purchase until a withdrawal of any percentage.
public enum NonConsumableAccess {
    /// The access that one purchase gives.
    static func spans(of purchase: OwnedPurchase, revocations: [HandRevocation] = []) -> [AccessSpan] {
        var list = SpanList()
        let withdrawal = purchase.withdrawal
        list.add(
            purchase, from: purchase.start,
            until: withdrawal.map { max(purchase.start, $0.date) },
            endReason: withdrawal?.reason ?? .expired, revocations: revocations)
        return list.spans
    }
}

/// Builds the spans of one source: cuts them at manual revocations, and joins consecutive ones.
struct SpanList {
    private(set) var spans: [AccessSpan] = []
    private var noted: Set<Owner> = []

    /// The span of a purchase, if it counts under the settings; otherwise an empty span with the reason.
    ///
    /// - Parameter revocations: those of the purchase.
    mutating func add(
        _ purchase: OwnedPurchase, source: AccessSource? = nil, from: Timestamp, until: Timestamp?,
        endReason: NoAccessReason, revocations: [HandRevocation] = []
    ) {
        guard let productID = purchase.productID else { return }
        let span = AccessSpan(
            customer: purchase.owner, productID: productID, environment: purchase.ownership.original.environment,
            kind: purchase.kind, source: source ?? .purchase(purchase.ownership), from: from, until: until,
            transaction: purchase.transaction, endReason: endReason)
        if let refusal = purchase.refusal {
            spans.append(span.empty(refusal))
        } else {
            add(span, revocations: revocations)
        }
        // One explanation per owner is enough, regardless of the number of periods.
        for other in purchase.others where noted.insert(Owner(customer: other, productID: productID)).inserted {
            var note = span.empty(.ownedByAnother)
            note.customer = other
            spans.append(note)
        }
    }

    /// Adds a span without the times in which it is manually revoked.
    mutating func add(_ span: AccessSpan, revocations: [HandRevocation]) {
        var rest = span
        for revocation in revocations.sorted(by: {
            ($0.from, $0.liftedAt ?? $0.from) < ($1.from, $1.liftedAt ?? $1.from)
        }) {
            if let until = rest.until, until <= revocation.from { break }
            // A revocation that was lifted at the same time has no effect.
            if let liftedAt = revocation.liftedAt, liftedAt <= max(rest.from, revocation.from) { continue }
            var before = rest
            before.until = max(rest.from, revocation.from)
            before.endReason = .revokedByHand
            spans.append(before)
            guard let liftedAt = revocation.liftedAt, rest.until.map({ liftedAt < $0 }) ?? true else { return }
            rest.from = liftedAt
        }
        spans.append(rest)
    }

    /// The joined spans: one for each customer, product and contiguous time. The reason is that of the purchase that
    /// began last. So is the transaction, unless that purchase ended before another one.
    fileprivate static func joined(_ spans: [AccessSpan]) -> [AccessSpan] {
        var open: [Owner: AccessSpan] = [:]
        var joined: [AccessSpan] = []
        var order: [Owner] = []
        for span in spans.enumerated().sorted(by: { ($0.element.from, $0.offset) < ($1.element.from, $1.offset) })
            .map(\.element)
        {
            let owner = Owner(customer: span.customer, productID: span.productID)
            guard var current = open[owner] else {
                open[owner] = span
                order.append(owner)
                continue
            }
            if current.join(span) {
                open[owner] = current
            } else {
                joined.append(current)
                open[owner] = span
            }
        }
        joined += order.compactMap { open[$0] }
        return joined.sorted(by: AccessSpan.isBefore)
    }

    struct Owner: Hashable {
        let customer: CustomerNumber?
        let productID: ExactText
    }
}

extension AccessSpan {
    func empty(_ reason: NoAccessReason) -> AccessSpan {
        var span = self
        span.until = from
        span.endReason = reason
        return span
    }

    /// Adds a span that begins no earlier, if there is no gap between them.
    ///
    /// - Returns: whether it was added.
    fileprivate mutating func join(_ next: AccessSpan) -> Bool {
        if isEmpty {
            // Empty spans are joined if they have the same reason.
            guard next.isEmpty, next.endReason == endReason else { return false }
            transaction = next.transaction
            return true
        }
        guard until.map({ $0.isAtOrAfter(startOf: next.from) }) ?? true else { return false }
        endReason = next.endReason
        // A refunded period can begin later and end earlier than a valid one, which access then names.
        if let nextEnd = next.until, until.map({ nextEnd < $0 }) ?? true { return true }
        (until, transaction) = (next.until, next.transaction)
        return true
    }

    /// The order of a list of spans: by start, then by all other fields, so that the order is unique.
    static func isBefore(_ left: AccessSpan, _ right: AccessSpan) -> Bool {
        if left.from != right.from { return left.from < right.from }
        return left.order.lexicographicallyPrecedes(right.order)
    }

    private var order: [ExactText] {
        let names: [ExactText] =
            switch source {
            case .purchase(let key): ["purchase", key.original.transactionID] + key.holder.names
            case .passes: ["passes"]
            case .grant(let entry): ["grant", ExactText("\(entry)")]
            }
        return [
            ExactText("\(customer?.rawValue ?? -1)"), productID, ExactText(environment.name),
            ExactText("\(until?.millisecondsSince1970 ?? .max)"), ExactText(endReason.rawValue),
            transaction?.transactionID ?? "",
        ] + names
    }
}

extension AccessTimeline {
    /// The timeline of joined spans of one customer, product and source.
    init(_ spans: [AccessSpan]) {
        self.init(
            spans.flatMap { span -> [Step] in
                let start = Step(
                    at: span.from, reason: span.isEmpty ? span.endReason : nil, transaction: span.transaction)
                guard let until = span.until, !span.isEmpty else { return [start] }
                return [start, Step(at: until, lead: 0, reason: span.endReason, transaction: span.transaction)]
            })
    }
}

extension [AccessSpan] {
    /// The grounds that these spans give, one for each customer and product. Spans of held purchases give none.
    var grounds: [AccessGround] {
        var spans: [SpanList.Owner: [AccessSpan]] = [:]
        for span in self where span.customer != nil {
            spans[SpanList.Owner(customer: span.customer, productID: span.productID), default: []].append(span)
        }
        return spans.values.compactMap { spans in
            guard let first = spans.first, let customer = first.customer else { return nil }
            return AccessGround(
                customer: customer, productID: first.productID, environment: first.environment, kind: first.kind,
                source: first.source, timeline: AccessTimeline(SpanList.joined(spans)))
        }
    }
}

extension Lapse {
    /// When assumed access ends.
    ///
    /// - Parameter tolerance: the setting `lapse_tolerance`, in milliseconds.
    func assumedUntil(_ tolerance: Int64) -> Timestamp { end.adding(milliseconds: min(tolerance, longest), times: 1) }
}
