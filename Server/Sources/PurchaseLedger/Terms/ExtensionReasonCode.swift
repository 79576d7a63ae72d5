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
