/// Whether, and what, Apple is told about a purchase for which a customer asks a refund.
public enum ConsumptionDecision: Sendable, Equatable {
    case send(ConsumptionAnswer)
    /// Nothing is sent yet; that can change until the deadline.
    case wait(Wait)
    /// Nothing is sent.
    case decline(Refusal)

    /// What an answer waits for.
    public enum Wait: String, Sendable {
        case noOwner = "no_owner"
        case noConsent = "no_consent"
    }

    /// Why there is no answer.
    public enum Refusal: String, Sendable {
        /// The settings say so.
        case policy
        /// Apple takes no answer about a share of a family.
        case familyShared = "family_shared"
        /// Apple takes no answer about an assigned seat.
        case assignedSeat = "assigned_seat"
        /// Apple has decided already.
        case refunded
    }

    /// The decision for a situation under a policy.
    public init(_ situation: ConsumptionSituation, _ policy: RefundPolicy) {
        self =
            if situation.holder == .seat {
                .decline(.assignedSeat)
            } else if situation.holder == .family {
                .decline(.familyShared)
            } else if situation.isWithdrawn {
                .decline(.refunded)
            } else if !policy.answers {
                .decline(.policy)
            } else if !situation.isOwned {
                .wait(.noOwner)
            } else if situation.consent != .given {
                .wait(.noConsent)
            } else {
                .send(ConsumptionAnswer(situation, policy))
            }
    }
}

extension ConsumptionAnswer {
    /// Everything: the largest percentage, in thousandths of a percent.
    package static let whole: Int64 = 100_000

    /// The answer for a situation under a policy. Combinations that Apple refuses are never made.
    package init(_ situation: ConsumptionSituation, _ policy: RefundPolicy) {
        let percentage = Self.percentage(situation)
        let preference: PreferredRefund =
            if !situation.isDelivered {
                policy.undelivered
            } else {
                switch situation.productKind == .consumable ? percentage : nil {
                case nil: policy.unmeasured
                case 0: policy.unused
                case Self.whole: policy.used
                default: policy.partlyUsed
                }
            }
        // Apple computes the part of auto-renewable subscriptions. Of anything else, it must be stated and be neither
        // nothing nor everything.
        let takesProration =
            situation.isDelivered
            && (situation.productKind == .autoRenewable || percentage.map { 0 < $0 && $0 < Self.whole } ?? false)
        self.init(
            isDelivered: situation.isDelivered, percentage: percentage,
            preference: preference == .grantProrated && !takesProration ? .none : preference,
            providesSample: policy.providesSample)
    }

    /// The used part: 0 of what was not delivered, none of auto-renewable subscriptions, and none of what is not
    /// measured. Two units of which one is used give 50,000. A part is never rounded to nothing or to everything.
    private static func percentage(_ situation: ConsumptionSituation) -> Int64? {
        // Of a product that the settings do not have, it is not known whether it renews by itself.
        guard let kind = situation.productKind, kind != .autoRenewable else { return nil }
        guard situation.isDelivered else { return 0 }
        guard situation.productKind == .consumable, situation.quantity > 0 else { return nil }
        let used = min(max(0, situation.used), situation.quantity)
        guard used > 0 else { return 0 }
        guard used < situation.quantity else { return whole }
        // A quantity is at most 10⁹, so nothing overflows.
        let rounded = (2 * used * whole + situation.quantity) / (2 * situation.quantity)
        return min(max(1, rounded), whole - 1)
    }
}

/// What Apple would have been told about refund requests under other policies.
public struct RefundReplay: Sendable {
    /// Requests about one product with the same words before and under the other policies.
    public struct Line: Sendable, Hashable {
        public var productID: String?
        /// What was said: a preference, or the reason why nothing was sent.
        public var said: String
        /// What the other policies say.
        public var other: String
        public var count = 0
    }

    private struct Key: Hashable {
        let productID: String?
        let said: String
        let other: String
    }

    private let policies: RefundPolicies
    private var counts: [Key: Int] = [:]
    /// The requests of which the record has no situation: nothing was decided before their deadline, or they belonged
    /// to an erased customer.
    public private(set) var undecided = 0

    /// A replay under other policies.
    public init(under policies: RefundPolicies) { self.policies = policies }

    /// Adds a request.
    ///
    /// - Parameters:
    ///   - situation: from what was decided; `nil` if nothing was.
    ///   - answer: what was sent.
    ///   - refusal: why nothing was sent.
    public mutating func add(_ situation: ConsumptionSituation?, answer: ConsumptionAnswer?, refusal: String?) {
        guard let situation else {
            undecided += 1
            return
        }
        let other = ConsumptionDecision(situation, policies.policy(for: situation.productID))
        let key = Key(
            productID: situation.productID,
            said: refusal ?? answer?.preference.rawValue ?? PreferredRefund.none.rawValue, other: Self.words(other))
        counts[key, default: 0] += 1
    }

    private static func words(_ decision: ConsumptionDecision) -> String {
        switch decision {
        case .send(let answer): answer.preference.rawValue
        case .wait(let wait): wait.rawValue
        case .decline(let refusal): refusal.rawValue
        }
    }

    /// The lines, by product and words.
    public var lines: [Line] {
        counts.map { Line(productID: $0.key.productID, said: $0.key.said, other: $0.key.other, count: $0.value) }
            .sorted { ($0.productID ?? "", $0.said, $0.other) < ($1.productID ?? "", $1.said, $1.other) }
    }

    /// The requests about which the other policies say something else.
    public var differences: Int { counts.reduce(0) { $0 + ($1.key.said == $1.key.other ? 0 : $1.value) } }

    /// The requests that were compared.
    public var compared: Int { counts.values.reduce(0, +) }
}
