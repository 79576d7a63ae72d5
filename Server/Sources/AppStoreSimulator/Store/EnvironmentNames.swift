/// The environment names in an app's evidence.
public enum EnvironmentNames: String, Codable, Hashable, Sendable, CaseIterable {
    /// `AssaySimulatorProduction` and `AssaySimulatorSandbox`, in evidence of every kind. Software that knows Apple's
    /// names does not mistake it for Apple's evidence, even if it trusts the simulator's root by mistake.
    /// `LocalTesting` is avoided deliberately: Apple's server libraries skip the signature check for it.
    case simulator
    /// Apple's own names. Many clients under test know no others. Then only the signer distinguishes the evidence from
    /// Apple's.
    case apple

    /// Reads one of the words above.
    public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }

    /// The name in signed data (`environment`) and in answers of `verifyReceipt`.
    public func name(of environment: StoreEnvironment) -> String {
        switch (self, environment) {
        case (.simulator, .production): "AssaySimulatorProduction"
        case (.simulator, .sandbox): "AssaySimulatorSandbox"
        case (.apple, .production): "Production"
        case (.apple, .sandbox): "Sandbox"
        }
    }

    /// The name in app receipts (attribute 0, `receipt_type`).
    public func receiptType(of environment: StoreEnvironment) -> String {
        switch (self, environment) {
        case (.simulator, _): name(of: environment)
        case (.apple, .production): "Production"
        case (.apple, .sandbox): "ProductionSandbox"
        }
    }
}
