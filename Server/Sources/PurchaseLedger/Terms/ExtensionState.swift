/// The states of a request for an extension of a subscription.
public enum ExtensionState: String, Sendable, CaseIterable {
    /// Apple has not answered yet.
    case open
    /// Apple extended the period.
    case extended
    /// Apple refused it.
    case refused
    /// There was no answer in a day, or none to a call after which Apple may have extended the period. A later signed
    /// transaction shows whether it did.
    case unanswered
}

/// The reasons for an extension of a subscription (Apple, "extendReasonCode").
public enum ExtensionReasonCode: String, Sendable, CaseIterable {
    case undeclared
    case customerSatisfaction = "customer_satisfaction"
    case other
    case serviceIssue = "service_issue"

    /// Apple's number.
    public var number: Int64 {
        switch self {
        case .undeclared: 0
        case .customerSatisfaction: 1
        case .other: 2
        case .serviceIssue: 3
        }
    }
}
