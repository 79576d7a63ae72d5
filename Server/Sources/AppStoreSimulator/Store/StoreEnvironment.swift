/// Which of a store's two sides a customer buys on.
public enum StoreEnvironment: String, Codable, Hashable, Sendable, CaseIterable {
    /// Customers who pay.
    case production
    /// Testers who pay nothing.
    case sandbox
}

/// What an app's evidence calls the store's two sides.
public enum EnvironmentNames: String, Codable, Hashable, Sendable, CaseIterable {
    /// `AssaySimulatorProduction` and `AssaySimulatorSandbox`, in evidence of every kind. No software that knows Apple's names
    /// takes them for Apple's, not even where somebody trusts the simulator's root by mistake. `LocalTesting` is avoided on
    /// purpose: Apple's server libraries skip the signature check for it.
    case simulator
    /// Apple's own names. A client under test often knows no others. What then tells the evidence apart is who signed it.
    case apple

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
