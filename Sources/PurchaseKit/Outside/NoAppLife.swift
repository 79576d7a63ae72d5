/// No news from the system, for programs without a user interface. Call `PurchaseEngine.refreshEntitlements()`
/// yourself.
public struct NoAppLife: AppLife {
    public init() {}
    public func moments() -> AsyncStream<AppMoment> { AsyncStream { $0.finish() } }
    public func beginWork(_: String) async -> @Sendable () async -> Void { {} }
}
