/// The evidence comes from an environment that the caller accepts.
public struct EnvironmentPolicy: PurchasePolicy {
    private let environments: Set<AppStoreEnvironment>

    /// Accepts these environments and no others.
    public init(accepting environments: Set<AppStoreEnvironment>) { self.environments = environments }

    public var name: String { "environment" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard let found = facts.environment else {
            throw VerificationError(.attributeMissing, expected: "an environment")
        }
        guard environments.contains(found) else {
            throw VerificationError(
                .environmentNotAccepted, expected: environments.map(\.name).sorted().joined(separator: " or "),
                found: found.name)
        }
    }
}
