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
