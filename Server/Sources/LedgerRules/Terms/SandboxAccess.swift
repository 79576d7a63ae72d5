public import PurchaseVerification

/// The customers for whom unpaid purchases count (setting `sandbox_access`). The current setting is applied to each
/// answer.
public enum SandboxAccess: String, Sendable, CaseIterable {
    /// For customers on the list of testers.
    case testers
    case everyone
    case nobody

    /// Whether purchases of an environment count for a customer, if the query names no environment.
    public func counts(_ environment: AppStoreEnvironment, isTester: Bool) -> Bool {
        guard environment != .production else { return true }
        return switch self {
        case .testers: isTester
        case .everyone: true
        case .nobody: false
        }
    }
}
