#if canImport(StoreKit) && canImport(Network)
    import Foundation

    #if os(watchOS)
        import WatchKit
    #elseif canImport(UIKit)
        import UIKit
    #elseif canImport(AppKit)
        import AppKit
    #endif

    /// Calls a closure each time that the app comes to the foreground.
    ///
    /// Unchecked, because only the main actor uses what changes.
    final class ForegroundNotice: @unchecked Sendable {
        private var observer: (any NSObjectProtocol)?
        private var isEnded = false

        init(_ came: @escaping @Sendable () -> Void) { Task { @MainActor in self.observe(came) } }

        func end() { Task { @MainActor in self.remove() } }

        @MainActor
        private func observe(_ came: @escaping @Sendable () -> Void) {
            guard !isEnded else { return }
            observer = NotificationCenter.default.addObserver(forName: Self.name, object: nil, queue: nil) { _ in came()
            }
        }

        @MainActor
        private func remove() {
            isEnded = true
            if let observer { NotificationCenter.default.removeObserver(observer) }
            observer = nil
        }

        @MainActor
        private static var name: Notification.Name {
            #if os(watchOS)
                WKExtension.applicationWillEnterForegroundNotification
            #elseif canImport(UIKit)
                UIApplication.willEnterForegroundNotification
            #elseif canImport(AppKit)
                NSApplication.didBecomeActiveNotification
            #else
                Notification.Name("assay-no-foreground")
            #endif
        }
    }
#endif
