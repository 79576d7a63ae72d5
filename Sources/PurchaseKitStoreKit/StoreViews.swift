#if canImport(StoreKit) && canImport(SwiftUI)
    public import PurchaseKit
    import StoreKit
    public import SwiftUI

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    extension View {
        /// Hands what StoreKit's own views inside sell (`StoreView`, `ProductView`, `SubscriptionStoreView`) to the
        /// model: with the account token of the customer, verified, granted and finished as a purchase by `buy`.
        public func sells(through model: PurchaseModel) -> some View {
            inAppPurchaseOptions { _ in
                do {
                    return [.appAccountToken(try await model.engine.accountToken())]
                } catch {
                    // The purchase is the customer's who is signed in when it arrives.
                    return []
                }
            }
            .onInAppPurchaseCompletion { _, result in
                guard case .success(.success(let transaction)) = result else { return }
                await model.engine.handle(PaymentTransaction(transaction))
            }
        }
    }

    #if os(iOS) || os(visionOS)
        extension View {
            /// Shows Apple's page of the customer's subscriptions, and looks at the current evidence when it closes.
            public func manageSubscriptions(isPresented: Binding<Bool>, _ model: PurchaseModel) -> some View {
                manageSubscriptionsSheet(isPresented: isPresented)
                    .task(id: isPresented.wrappedValue) { await model.look(ifClosed: isPresented) }
            }

            /// Shows Apple's sheet that asks for a refund of a purchase, and looks at the current evidence when it
            /// closes.
            public func refundRequest(
                for transactionID: String, isPresented: Binding<Bool>, _ model: PurchaseModel
            ) -> some View {
                refundRequestSheet(for: UInt64(transactionID) ?? 0, isPresented: isPresented)
                    .task(id: isPresented.wrappedValue) { await model.look(ifClosed: isPresented) }
            }

            /// Shows Apple's sheet for an offer code. What it gives arrives as a transaction.
            @available(iOS 16, macCatalyst 16, visionOS 1, *)
            public func redeemCode(isPresented: Binding<Bool>, _ model: PurchaseModel) -> some View {
                offerCodeRedemption(isPresented: isPresented)
                    .task(id: isPresented.wrappedValue) { await model.look(ifClosed: isPresented) }
            }
        }

        extension PurchaseModel {
            fileprivate func look(ifClosed isPresented: Binding<Bool>) async {
                if !isPresented.wrappedValue { await engine.refreshEntitlements() }
            }
        }
    #endif
#endif
