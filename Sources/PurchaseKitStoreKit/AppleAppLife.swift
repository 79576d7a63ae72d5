#if canImport(StoreKit) && canImport(Network)
    public import PurchaseKit

    /// The life of an app on Apple's systems.
    public struct AppleAppLife: AppLife {
        public init() {}

        public func moments() -> AsyncStream<AppMoment> {
            AsyncStream { continuation in
                let foreground = ForegroundNotice { continuation.yield(.foreground) }
                let network = NetworkReturn { continuation.yield(.network) }
                continuation.onTermination = { _ in
                    foreground.end()
                    network.end()
                }
            }
        }

        #if os(macOS)
            /// The Mac does not suspend apps.
            public func beginWork(_: String) async -> @Sendable () async -> Void { {} }
        #else
            public func beginWork(_ name: String) async -> @Sendable () async -> Void {
                let work = BackgroundWork(name)
                return { work.end() }
            }
        #endif
    }
#endif
