#if canImport(StoreKit)
    import PurchaseKit
    import StoreKit

    #if canImport(UIKit) && !os(watchOS)
        public import UIKit

        /// The scene in which a customer is asked something.
        enum ShownScene {
            /// The app's window scene in the foreground; of several an active one, with the key window.
            @MainActor
            static func of(_ scenes: Set<UIScene>) -> UIWindowScene? {
                let inactive = scenes.compactMap { $0 as? UIWindowScene }.filter {
                    isOfApp($0) && [.foregroundActive, .foregroundInactive].contains($0.activationState)
                }
                let active = inactive.filter { $0.activationState == .foregroundActive }
                let shown = active.isEmpty ? inactive : active
                return shown.first { $0.windows.contains { $0.isKeyWindow } } ?? shown.first
            }

            /// Every window of visionOS can ask.
            @MainActor
            private static func isOfApp(_ scene: UIWindowScene) -> Bool {
                #if os(visionOS)
                    true
                #else
                    scene.session.role == .windowApplication
                #endif
            }
        }
    #endif
    #if canImport(AppKit) && !targetEnvironment(macCatalyst)
        public import AppKit
    #endif

    /// The ready ways to ask a customer to pay: where the system shows the sheet that confirms a purchase.
    ///
    /// In SwiftUI, the `PurchaseAction` of the environment does it, too:
    /// `StoreKit2Queue { try await purchase($0, options: $1) }`.
    public enum PurchaseConfirmation {
        #if !os(visionOS)
            /// Lets StoreKit choose the place. Since iOS 18.2 it needs an app with scenes.
            public static let automatic: StoreKit2Queue.Purchase = { product, options in
                try await product.purchase(options: options)
            }
        #endif

        #if canImport(UIKit) && !os(watchOS)
            /// Shows the sheet in a scene, which is asked for at each purchase.
            @available(iOS 17, macCatalyst 17, tvOS 17, visionOS 1, *)
            public static func scene(
                _ scene: @escaping @MainActor @Sendable () throws -> UIScene
            ) -> StoreKit2Queue.Purchase {
                { product, options in try await product.purchase(confirmIn: try scene(), options: options) }
            }

            /// Shows the sheet in a view controller, which is asked for at each purchase.
            @available(iOS 18.2, macCatalyst 18.2, tvOS 18.2, visionOS 2.2, *)
            public static func viewController(
                _ controller: @escaping @MainActor @Sendable () throws -> UIViewController
            ) -> StoreKit2Queue.Purchase {
                { product, options in try await product.purchase(confirmIn: try controller(), options: options) }
            }

            /// Shows the sheet in the window that the customer looks at; before iOS 17, StoreKit chooses the place.
            @available(iOSApplicationExtension, unavailable)
            @available(macCatalystApplicationExtension, unavailable)
            @available(tvOSApplicationExtension, unavailable)
            @available(visionOSApplicationExtension, unavailable)
            public static let activeScene: StoreKit2Queue.Purchase = { product, options in
                if #available(iOS 17, macCatalyst 17, tvOS 17, visionOS 1, *) {
                    if let scene = ShownScene.of(UIApplication.shared.connectedScenes) {
                        return try await product.purchase(confirmIn: scene, options: options)
                    }
                }
                #if os(visionOS)
                    throw PurchaseError(.queueFailed, expected: "a scene to confirm the purchase in", found: "none")
                #else
                    return try await product.purchase(options: options)
                #endif
            }
        #endif

        #if canImport(AppKit) && !targetEnvironment(macCatalyst)
            /// Shows the sheet at a window, which is asked for at each purchase.
            @available(macOS 15.2, *)
            public static func window(
                _ window: @escaping @MainActor @Sendable () throws -> NSWindow
            ) -> StoreKit2Queue.Purchase {
                { product, options in try await product.purchase(confirmIn: try window(), options: options) }
            }
        #endif
    }
#endif
