#if canImport(SwiftUI)
    public import SwiftUI

    extension View {
        /// Gives the customer's purchases to the views inside, which read them with `@EnvironmentObject`.
        ///
        ///     WindowGroup { ContentView().purchases(model) }
        public func purchases(_ model: PurchaseModel) -> some View { environmentObject(model) }

        /// Shows this view if the customer may use a product, and another one if not; it changes by itself. Until the
        /// first look has ended it shows neither, so that a subscriber never sees the shop flash.
        ///
        ///     Editor().requires("pro", in: model) { Shop() }
        public func requires<Other: View>(
            _ productID: String, in model: PurchaseModel, @ViewBuilder otherwise: () -> Other
        ) -> some View { modifier(RequiredPurchase(productID: productID, model: model, other: otherwise())) }
    }

    /// A button that restores purchases, with a sentence about what it found. App Review expects one in a shop.
    public struct RestoreButton: View {
        @ObservedObject private var model: PurchaseModel

        public init(_ model: PurchaseModel) { self.model = model }

        public var body: some View {
            VStack {
                Button(PurchaseMessage.text("restore", "Restore Purchases")) { Task { await model.restore() } }
                    .disabled(model.isBusy)
                if let message = model.restored?.message { Text(message) }
            }
        }
    }

    /// Shows the content to customers of a product.
    struct RequiredPurchase<Other: View>: ViewModifier {
        let productID: String
        @ObservedObject var model: PurchaseModel
        let other: Other

        func body(content: Content) -> some View {
            if model.isActive(productID) {
                content
            } else if model.isLoaded {
                other
            } else {
                ProgressView()
            }
        }
    }
#endif
