/// The life of the app in its system: the moments that bring news, and time to end work in the background.
public protocol AppLife: Sendable {
    /// Each time that the app comes to the foreground, or the network returns.
    func moments() -> AsyncStream<AppMoment>

    /// Asks the system not to suspend the app until `end` is called: `UIApplication.beginBackgroundTask` around a
    /// claim.
    ///
    /// - Returns: ends the request; it is called once.
    func beginWork(_ name: String) async -> @Sendable () async -> Void
}
