import PurchaseVerification

/// The verdicts of a claim.
public enum Verdict: String, Sendable, CaseIterable {
    case accepted
    case rejected
    /// It cannot be decided yet: the claim waits for the App Store.
    case undetermined

    /// The verdict of an entry with a code.
    init(code: String) {
        switch DecisionCode(rawValue: code) {
        case .accepted: self = .accepted
        case .some(let code) where code.isUndetermined: self = .undetermined
        default: self = .rejected
        }
    }
}
