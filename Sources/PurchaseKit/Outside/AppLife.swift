/// The life of the app in its system: the moments that bring news, and time to end work in the background.
public protocol AppLife: Sendable {
    /// Each time that the app comes to the foreground, or the network returns.
    func moments() -> AsyncStream<AppMoment>

    /// Asks the system not to suspend the app until `end` is called: `UIApplication.beginBackgroundTask` around a claim.
    ///
    /// - Returns: ends the request; it is called once.
    func beginWork(_ name: String) async -> @Sendable () async -> Void
}

/// A moment at which newer facts may be available.
public enum AppMoment: Sendable, Equatable {
    case foreground
    case network
}

/// No news from the system, for programs without a user interface. Call `PurchaseEngine.refreshEntitlements()` yourself.
public struct NoAppLife: AppLife {
    public init() {}
    public func moments() -> AsyncStream<AppMoment> { AsyncStream { $0.finish() } }
    public func beginWork(_: String) async -> @Sendable () async -> Void { {} }
}
