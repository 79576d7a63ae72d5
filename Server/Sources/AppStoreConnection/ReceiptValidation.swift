/// Asks the App Store about a receipt. The outcome is a hint from a known source, not a proof: no signature covers the
/// reply.
public protocol ReceiptValidation: Sendable {
    /// Asks about one receipt. It never throws: without a usable reply, the outcome is `undetermined`.
    func validate(_ request: ReceiptValidationRequest) async -> ReceiptValidationOutcome

    /// The state of the circuit breaker of an environment.
    func circuit(of environment: ValidationEnvironment) -> CircuitState
}
