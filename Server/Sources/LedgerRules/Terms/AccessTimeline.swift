public import PurchaseVerification

/// When one ground of access gives a product, and why it does not, as a function of time: each step holds until the
/// next one begins.
///
/// Consecutive periods are one step, so a subscription of ten years is two.
public struct AccessTimeline: Sendable, Hashable {
    /// The steps, ordered by start. Neighbours differ.
    public let steps: [Step]

    /// One step.
    public struct Step: Sendable, Hashable {
        /// When it begins.
        public var at: Timestamp
        /// How much earlier it begins for a question about now, in milliseconds: clocks of devices, of Apple and of the
        /// server differ. 0 for what begins because something ends.
        public var lead: Int64
        /// Why there is no access, or `inGrace`; `nil` for any other access.
        public var reason: NoAccessReason?
        /// When the access ends without a gap, or ended; `nil` if it has no end.
        public var until: Timestamp?
        /// The transaction that began last in it; `nil` for a manual grant.
        public var transaction: TransactionKey?
        /// For the reason `newsMissing`: how long access may be assumed.
        public var lapse: Lapse?

        /// Creates a step. Its end follows from the steps after it.
        public init(
            at: Timestamp, lead: Int64 = AccessTimeline.startTolerance, reason: NoAccessReason?,
            transaction: TransactionKey?
        ) {
            (self.at, self.lead, self.reason, self.transaction) = (at, lead, reason, transaction)
        }

        package init(
            at: Timestamp, lead: Int64, reason: NoAccessReason?, until: Timestamp?, transaction: TransactionKey?,
            lapse: Lapse?
        ) {
            self.init(at: at, lead: lead, reason: reason, transaction: transaction)
            (self.until, self.lapse) = (until, lapse)
        }

        /// Whether it says the same as the step before it.
        package func continues(_ former: Step) -> Bool {
            reason == former.reason && transaction == former.transaction && lapse == former.lapse
        }

        /// Whether it gives access.
        public var givesAccess: Bool { reason == nil || reason == .inGrace }

        func hasBegun(_ question: AccessQuestion) -> Bool {
            guard question.isAboutNow else { return at <= question.moment }
            let (early, overflow) = at.millisecondsSince1970.subtractingReportingOverflow(lead)
            return overflow || early <= question.moment.millisecondsSince1970
        }
    }

    /// How much earlier access begins, in milliseconds, except in short periods of subscriptions.
    public static let startTolerance: Int64 = 300_000

    /// A timeline of steps whose ends are known.
    package init(stored steps: [Step]) { self.steps = steps }

    /// Joins steps in any order: of two at the same time, the later in the list counts.
    public init(_ parts: [Step]) {
        var steps: [Step] = []
        for part in parts.sortedUnlessInOrder(by: { $0.at < $1.at }) {
            if steps.last?.at == part.at { steps.removeLast() }
            if let last = steps.indices.last, steps[last].givesAccess, steps[last].reason == part.reason {
                steps[last].transaction = part.transaction
            } else if steps.last.map({ !part.continues($0) }) ?? true {
                steps.append(part)
            }
        }
        // From the end, so that each step of access knows when the access ends.
        var end: Timestamp?
        for place in steps.indices.reversed() {
            if steps[place].givesAccess { steps[place].until = end } else { end = steps[place].at }
        }
        var last: Timestamp?
        for place in steps.indices {
            if steps[place].givesAccess {
                last = steps[place].until
            } else {
                steps[place].until = last ?? steps[place].at
            }
        }
        self.steps = steps
    }

    /// The timeline of several sources of one ground, such as a purchase and a shared copy of it.
    package static func joined(_ timelines: [AccessTimeline]) -> AccessTimeline {
        if timelines.count == 1 { return timelines[0] }
        let times = Set(timelines.flatMap { $0.steps.map(\.at) }).sorted()
        return AccessTimeline(
            times.compactMap { time in
                let best = timelines.compactMap { $0.state(.at(time)) }.max { $0.isBefore($1) }
                let leads = timelines.flatMap(\.steps).filter { $0.at == time }.map(\.lead)
                return best.map {
                    var step = Step(
                        at: time, lead: leads.max() ?? 0, reason: $0.step.reason, transaction: $0.step.transaction)
                    step.lapse = $0.step.lapse
                    return step
                }
            })
    }

    /// The step that holds at a time, and when the access began without a gap, which may be assumed; `nil` before the
    /// first step.
    package func state(_ question: AccessQuestion) -> State? {
        guard let place = steps.lastIndex(where: { $0.hasBegun(question) }) else { return nil }
        var first = place
        while first > 0, steps[first].givesAccess || steps[first].lapse != nil, steps[first - 1].givesAccess {
            first -= 1
        }
        return State(step: steps[place], since: steps[first].at)
    }

    /// The state of a ground at a time.
    package struct State {
        package let step: Step
        /// When the access began without a gap.
        package let since: Timestamp

        /// Whether it represents the grounds of a product rather than another: the one that gives access, then the one
        /// that ends last. Ties are broken by the fields of the steps, not by an order of rows, which depends on the
        /// order of arrival.
        func isBefore(_ other: State) -> Bool {
            if step.givesAccess != other.step.givesAccess { return other.step.givesAccess }
            let ends = (step.until ?? .unending, other.step.until ?? .unending)
            if ends.0 != ends.1 { return ends.0 < ends.1 }
            // Of equal ends, the longer access, or the later reason.
            let starts = step.givesAccess ? (other.since, since) : (step.at, other.step.at)
            if starts.0 != starts.1 { return starts.0 < starts.1 }
            if (step.reason == .ownedByAnother) != (other.step.reason == .ownedByAnother) {
                return step.reason == .ownedByAnother
            }
            let ids = (step.transaction?.transactionID ?? "", other.step.transaction?.transactionID ?? "")
            if ids.0 != ids.1 { return ids.0 < ids.1 }
            return (step.reason?.rawValue ?? "") < (other.step.reason?.rawValue ?? "")
        }
    }
}

extension Timestamp {
    /// Later than every time of evidence.
    package static let unending = Timestamp(millisecondsSince1970: .max)
}

extension Array {
    /// These elements, sorted. Most of what the rules sort is in order already, which one pass shows.
    func sortedUnlessInOrder(by isBefore: (Element, Element) -> Bool) -> [Element] {
        indices.dropFirst().contains { isBefore(self[$0], self[$0 - 1]) } ? sorted(by: isBefore) : self
    }
}

/// A contiguous time in which a purchase or a grant gives access, and the reason for its end. A span may be empty
/// (`until` equals `from`): then it only carries the reason. Spans are joined to an `AccessTimeline`.
struct AccessSpan: Sendable, Hashable {
    /// The owner; `nil` if it is held.
    var customer: CustomerNumber?
    var productID: ExactText
    var environment: AppStoreEnvironment
    /// The kind that determines its rule; `nil` if neither the settings nor the evidence state one.
    var kind: ProductKind?
    var source: AccessSource
    /// When it begins. Access is given five minutes earlier, because clocks differ.
    var from: Timestamp
    /// When it ends, without tolerance; `nil` if it does not end.
    var until: Timestamp?
    /// The transaction that began last in it; `nil` for a manual grant.
    var transaction: TransactionKey?
    /// The reason why there is no access after it.
    var endReason: NoAccessReason

    /// Creates a span.
    init(
        customer: CustomerNumber?, productID: ExactText, environment: AppStoreEnvironment, kind: ProductKind?,
        source: AccessSource, from: Timestamp, until: Timestamp?, transaction: TransactionKey?,
        endReason: NoAccessReason
    ) {
        self.customer = customer
        self.productID = productID
        self.environment = environment
        self.kind = kind
        self.source = source
        self.from = from
        self.until = until
        self.transaction = transaction
        self.endReason = endReason
    }

    /// Whether the span is empty.
    var isEmpty: Bool { until.map { $0 <= from } ?? false }
}

extension Timestamp {
    /// Whether something with this start has started, with the tolerance of starts.
    func isAtOrAfter(startOf start: Timestamp) -> Bool {
        let (early, overflow) = start.millisecondsSince1970.subtractingReportingOverflow(AccessTimeline.startTolerance)
        return overflow || early <= millisecondsSince1970
    }
}

/// One ground of a customer's access to a product: a purchase or a subscription, a chain of passes, or a manual grant.
public struct AccessGround: Sendable, Hashable {
    public var customer: CustomerNumber
    public var productID: ExactText
    public var environment: AppStoreEnvironment
    /// The kind that determines its rule; `nil` if neither the settings nor the evidence state one.
    public var kind: ProductKind?
    public var source: AccessSource
    public var timeline: AccessTimeline

    /// Creates a ground.
    public init(
        customer: CustomerNumber, productID: ExactText, environment: AppStoreEnvironment, kind: ProductKind?,
        source: AccessSource, timeline: AccessTimeline
    ) {
        self.customer = customer
        self.productID = productID
        self.environment = environment
        self.kind = kind
        self.source = source
        self.timeline = timeline
    }
}

extension [AccessGround] {
    /// The joint timeline of the grounds of one customer and product, and its kind; `nil` if no kind is known.
    package var joined: (timeline: AccessTimeline, kind: ProductKind)? {
        guard let kind = compactMap(\.kind).min(by: { $0.rawValue < $1.rawValue }) else { return nil }
        return (AccessTimeline.joined(map(\.timeline)), kind)
    }
}

/// The source of access to a product.
public enum AccessSource: Sendable, Hashable {
    /// A purchase: a consumable, a non-consumable, or a whole subscription.
    case purchase(OwnershipKey)
    /// All non-renewing subscriptions of one customer and product together, because each begins when the previous one
    /// ends.
    case passes
    /// A manual grant, by its journal entry.
    case grant(Int64)
}

/// The reason why a product gives no access, or why it still gives some. The raw value is part of API answers and never
/// changes.
public enum NoAccessReason: String, Sendable, CaseIterable {
    /// The paid time has ended.
    case expired
    /// The paid time has ended, and Apple still tries to collect the price of the next period.
    case billingRetry = "billing_retry"
    /// The paid time has ended, and nothing says that the subscription was not renewed: the news of it are missing.
    case newsMissing = "news_missing"
    /// The paid time has ended, and the App Store gives a grace period while it tries to collect the next price. It is
    /// the only reason with access.
    case inGrace = "in_grace"
    /// The purchase is no longer shared with this member of a family.
    case familyRevoked = "family_revoked"
    /// Apple refunded or revoked the purchase, by signed data.
    case revoked
    /// Apple cancelled the purchase, by the cancellation date of a receipt.
    case cancelled
    /// The customer upgraded to another product.
    case upgraded
    /// A later period of the same subscription, with another product, has replaced it.
    case superseded
    /// All units of a consumable were used.
    case consumed
    /// The purchase begins later.
    case notStarted = "not_started"
    /// The purchase has no owner yet.
    case held
    /// The purchase belongs to another customer: it was transferred, or carries that customer's account token.
    case ownedByAnother = "owned_by_another"
    /// An operator revoked the purchase or the grant.
    case revokedByHand = "revoked_by_hand"
    /// Sandbox purchases do not count for this customer.
    case sandboxNotAccepted = "sandbox_not_accepted"
    /// The customer claimed a seat of a subscription, and as many claims are older as it has seats.
    case noSeat = "no_seat"
    /// The customer's seat of a subscription ended.
    case seatUnclaimed = "seat_unclaimed"
    /// The product is not registered, or a non-renewing subscription has no duration in the settings.
    case productUnknown = "product_unknown"
    /// Signed data states another kind of product than the settings.
    case productKindMismatch = "product_kind_mismatch"
    /// No evidence states the end of the period.
    case periodUnknown = "period_unknown"
}

/// The end of a period that is expected to renew, while nothing says whether it did. For a short time afterwards,
/// access may be assumed (docs/ledger.md, "The state of a subscription", row 10).
public struct Lapse: Sendable, Hashable {
    /// The end of the period.
    public var end: Timestamp
    /// The longest time for which access may be assumed, in milliseconds: half of the period.
    public var longest: Int64

    /// A lapse of a period.
    public init(end: Timestamp, longest: Int64) {
        self.end = end
        self.longest = longest
    }
}
