#if canImport(StoreKit) && canImport(Network)
    import Foundation
    import Network
    public import PurchaseKit

    #if os(watchOS)
        import WatchKit
    #elseif canImport(UIKit)
        import UIKit
    #elseif canImport(AppKit)
        import AppKit
    #endif

    public struct AppleAppLife: AppLife {
        public init() {}

        public func moments() -> AsyncStream<AppMoment> {
            AsyncStream { continuation in
                let foreground = Task {
                    let name = await Self.foreground
                    for await _ in NotificationCenter.default.notifications(named: name) {
                        continuation.yield(.foreground)
                    }
                }
                let network = NetworkReturn { continuation.yield(.network) }
                continuation.onTermination = { _ in
                    foreground.cancel()
                    network.end()
                }
            }
        }

        /// The name of the notice that the app comes to the foreground.
        @MainActor
        private static var foreground: Notification.Name {
            #if os(watchOS)
                WKExtension.applicationWillEnterForegroundNotification
            #elseif canImport(UIKit)
                UIApplication.willEnterForegroundNotification
            #else
                NSApplication.didBecomeActiveNotification
            #endif
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

    /// Calls a closure each time that the network returns.
    ///
    /// Unchecked, because only the queue of the monitor uses what changes.
    final class NetworkReturn: @unchecked Sendable {
        private let monitor = NWPathMonitor()
        private var isReachable = true

        init(_ returned: @escaping @Sendable () -> Void) {
            monitor.pathUpdateHandler = { [weak self] path in
                guard let self else { return }
                let isReachable = path.status == .satisfied
                defer { self.isReachable = isReachable }
                if isReachable, !self.isReachable { returned() }
            }
            monitor.start(queue: DispatchQueue(label: "PurchaseKit.network"))
        }

        func end() { monitor.cancel() }
    }

    #if !os(macOS)
        /// Time that the system gives the app to end its work in the background. `ProcessInfo` asks for it as
        /// `UIApplication.beginBackgroundTask` does, on watchOS and in extensions, too.
        ///
        /// Unchecked, because a semaphore is used from any thread.
        final class BackgroundWork: @unchecked Sendable {
            private let isOver = DispatchSemaphore(value: 0)

            init(_ name: String) {
                ProcessInfo.processInfo.performExpiringActivity(withReason: name) { [isOver] isExpired in
                    // The system takes the time back when the first call returns, and ends the app if that does not
                    // happen after the second.
                    if isExpired { isOver.signal() } else { isOver.wait() }
                }
            }

            func end() { isOver.signal() }

            deinit { isOver.signal() }
        }
    #endif
#endif
