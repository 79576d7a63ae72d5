/// Calls the App Store Server API.
public protocol AppStoreServer: Sendable {
    /// Makes a call.
    ///
    /// - Parameters:
    ///   - operation: what to call.
    ///   - app: on whose behalf.
    ///   - environment: the environment to ask; `nil` to ask production first and then, if it does not know the
    ///     identifier or the app, the sandbox.
    /// - Throws: `AppStoreServerError`.
    func call<Operation: AppStoreServerOperation>(
        _ operation: Operation, for app: AppStoreServerApp, in environment: ValidationEnvironment?
    ) async throws(AppStoreServerError) -> AppStoreServerAnswer<Operation.Answer>

    /// The state of the circuit breaker of an environment.
    func circuit(of environment: ValidationEnvironment) -> CircuitState

    /// The shortest time between two calls of an operation, by Apple's limits.
    func spacing<Operation: AppStoreServerOperation>(
        of operation: Operation.Type, in environment: ValidationEnvironment
    ) -> Duration
}

extension AppStoreServer {
    /// Makes a call in production and then, if it does not know the identifier or the app, in the sandbox.
    public func call<Operation: AppStoreServerOperation>(
        _ operation: Operation, for app: AppStoreServerApp
    ) async throws(AppStoreServerError) -> AppStoreServerAnswer<Operation.Answer> {
        try await call(operation, for: app, in: nil)
    }
}
