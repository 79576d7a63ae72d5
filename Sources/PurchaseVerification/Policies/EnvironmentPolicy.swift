/// The receipt comes from an environment that the caller accepts (attribute 0).
public struct EnvironmentPolicy: AppReceiptPolicy {
    private let environments: Set<AppStoreEnvironment>

    /// Accepts these environments and no others.
    public init(accepting environments: Set<AppStoreEnvironment>) { self.environments = environments }

    public var name: String { "environment" }

    public func check<Trust>(_ receipt: AppReceiptContent<Trust>) throws(VerificationError) {
        guard let found = receipt.environment else {
            throw VerificationError(.attributeMissing, expected: "a receipt type (attribute 0)")
        }
        guard environments.contains(found) else {
            throw VerificationError(
                .environmentNotAccepted, expected: environments.map(\.name).sorted().joined(separator: " or "),
                found: found.name)
        }
    }
}
