// What the adapters take from UIKit, on iOS, tvOS, visionOS and Catalyst, declared without an implementation.

public import Foundation

@MainActor open class UIScene {
    public enum ActivationState: Sendable { case foregroundActive, foregroundInactive, background, unattached }
    public var activationState: ActivationState { fatalError() }
    public var session: UISceneSession { fatalError() }
}

@MainActor open class UIWindowScene: UIScene { public var windows: [UIWindow] { fatalError() } }

@MainActor open class UIWindow { public var isKeyWindow: Bool { fatalError() } }

@MainActor open class UISceneSession {
    public struct Role: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        @available(iOS 13.0, tvOS 13.0, visionOS 1.0, *)
        public static let windowApplication = Role(rawValue: "")
    }
    public var role: Role { fatalError() }
}

extension UIScene: @preconcurrency Hashable {
    public static func == (left: UIScene, right: UIScene) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) {}
}

@MainActor open class UIViewController {}

@MainActor open class UIApplication {
    @available(iOSApplicationExtension, unavailable)
    @available(macCatalystApplicationExtension, unavailable)
    @available(tvOSApplicationExtension, unavailable)
    @available(visionOSApplicationExtension, unavailable)
    public static var shared: UIApplication { fatalError() }
    public var connectedScenes: Set<UIScene> { fatalError() }
    public nonisolated static var willEnterForegroundNotification: Notification.Name { fatalError() }
}

@MainActor open class UIDevice {
    public static var current: UIDevice { fatalError() }
    public var identifierForVendor: UUID? { fatalError() }
}
