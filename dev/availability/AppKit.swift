// What the adapters take from AppKit, on the Mac, declared without an implementation.

public import Foundation

@MainActor open class NSWindow {}

@MainActor open class NSApplication {
    public nonisolated static var didBecomeActiveNotification: Notification.Name { fatalError() }
}
