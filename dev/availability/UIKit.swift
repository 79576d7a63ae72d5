// What the adapters take from UIKit, on iOS, tvOS, visionOS and Catalyst, declared without an implementation.

public import Foundation

@MainActor
open class UIScene {
    public enum ActivationState: Sendable { case foregroundActive, foregroundInactive, background, unattached }
    public var activationState: ActivationState { fatalError() }
}

extension UIScene: @preconcurrency Hashable {
    public static func == (left: UIScene, right: UIScene) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) {}
}

@MainActor
open class UIViewController {}

@MainActor
open class UIApplication {
    @available(iOSApplicationExtension, unavailable)
    @available(macCatalystApplicationExtension, unavailable)
    @available(tvOSApplicationExtension, unavailable)
    @available(visionOSApplicationExtension, unavailable)
    public static var shared: UIApplication { fatalError() }
    public var connectedScenes: Set<UIScene> { fatalError() }
    public nonisolated static var willEnterForegroundNotification: Notification.Name { fatalError() }
}

@MainActor
open class UIDevice {
    public static var current: UIDevice { fatalError() }
    public var identifierForVendor: UUID? { fatalError() }
}
