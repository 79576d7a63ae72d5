/// Asks the App Store about a receipt. The outcome is a hint from a known source, not a proof: no signature covers the
/// reply.
public protocol ReceiptValidation: Sendable {
    /// Asks about one receipt. It never throws: without a usable reply, the outcome is `undetermined`.
    func validate(_ request: ReceiptValidationRequest) async -> ReceiptValidationOutcome

    /// The state of the circuit breaker of an environment.
    func circuit(of environment: ValidationEnvironment) -> CircuitState
}

/// The two addresses of `verifyReceipt`.
public enum ValidationEnvironment: String, Sendable, Hashable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"

    public var other: ValidationEnvironment { self == .production ? .sandbox : .production }
}

/// The state of a circuit breaker.
public enum CircuitState: Sendable, Equatable {
    /// Calls are made.
    case closed
    /// No call is made except one probe, which may be made after the duration; zero if the next call is the probe.
    case open(nextProbeAfter: Duration)
}
