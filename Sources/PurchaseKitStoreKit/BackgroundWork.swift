#if canImport(StoreKit) && canImport(Network) && !os(macOS)
    import Foundation

    /// Time that the system gives the app to end its work in the background. `ProcessInfo` asks for it as
    /// `UIApplication.beginBackgroundTask` does, on watchOS and in extensions, too.
    ///
    /// Unchecked, because a semaphore is used from any thread.
    final class BackgroundWork: @unchecked Sendable {
        private let isOver = DispatchSemaphore(value: 0)

        init(_ name: String) {
            ProcessInfo.processInfo.performExpiringActivity(withReason: name) { [isOver] isExpired in
                // The system takes the time back when the first call returns, and ends the app if that does not happen
                // after the second.
                if isExpired { isOver.signal() } else { isOver.wait() }
            }
        }

        func end() { isOver.signal() }

        deinit { isOver.signal() }
    }
#endif
