// What the adapters take from WatchKit, declared without an implementation.

public import Foundation

@MainActor open class WKInterfaceDevice {
    public static func current() -> WKInterfaceDevice { fatalError() }
    @available(watchOS 6.2, *)
    public var identifierForVendor: UUID? { fatalError() }
}

@MainActor open class WKExtension {
    @available(watchOS 7.0, *)
    public static var applicationWillEnterForegroundNotification: Notification.Name { fatalError() }
}
