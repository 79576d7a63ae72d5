public import PurchaseVerification

/// For whom purchases count that nobody paid for (setting `sandbox_access`). It is applied when an answer is given, as it is
/// set then.
public enum SandboxAccess: String, Sendable, CaseIterable {
    /// For customers on the list of testers.
    case testers
    case everyone
    case nobody

    /// Whether purchases of an environment count for a customer, where the question names no environment.
    public func counts(_ environment: AppStoreEnvironment, isTester: Bool) -> Bool {
        guard environment != .production else { return true }
        return switch self {
        case .testers: isTester
        case .everyone: true
        case .nobody: false
        }
    }
}
