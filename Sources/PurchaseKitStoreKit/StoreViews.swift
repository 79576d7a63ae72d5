#if canImport(StoreKit) && canImport(SwiftUI)
    public import PurchaseKit
    import StoreKit
    public import SwiftUI

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    extension View {
        /// Hands what StoreKit's own views inside sell (`StoreView`, `ProductView`, `SubscriptionStoreView`) to the
        /// model: with the account token of the customer, verified, granted, finished and shown as a purchase by `buy`.
        public func sells(through model: PurchaseModel) -> some View {
            inAppPurchaseOptions { _ in
                do {
                    return [.appAccountToken(try await model.engine.accountToken())]
                } catch {
                    // The store cannot be read. The purchase is the customer's who is signed in when it arrives.
                    return []
                }
            }
            .onInAppPurchaseCompletion { product, answer in
                let sold = Result {
                    try StoreKit2Queue.result(of: answer, product.id) { PaymentTransaction($0) }
                }
                await model.take(sold, of: product.id)
            }
        }
    }

    #if os(iOS) || os(visionOS)
        extension View {
            /// Shows Apple's page of the customer's subscriptions, and looks at the current evidence when it closes.
            public func manageSubscriptions(isPresented: Binding<Bool>, _ model: PurchaseModel) -> some View {
                manageSubscriptionsSheet(isPresented: isPresented).looks(isPresented, model)
            }

            /// Shows Apple's sheet that asks for a refund, and looks at the current evidence when it closes.
            public func refundRequest(
                for transactionID: String, isPresented: Binding<Bool>, _ model: PurchaseModel
            ) -> some View {
                refundRequestSheet(for: UInt64(transactionID) ?? 0, isPresented: isPresented)
                    .looks(isPresented, model)
            }

            /// Shows Apple's sheet for an offer code. What it gives arrives as a transaction.
            @available(iOS 16, macCatalyst 16, visionOS 1, *)
            public func redeemCode(isPresented: Binding<Bool>, _ model: PurchaseModel) -> some View {
                offerCodeRedemption(isPresented: isPresented).looks(isPresented, model)
            }
        }
    #endif

    #if StoreKit27 && (os(iOS) || os(macOS)) && !targetEnvironment(macCatalyst)
        extension View {
            /// Shows Apple's sheet by which the buyer of seats invites people, and looks when it closes.
            @available(iOS 27.3, macOS 27.3, *)
            public func inviteMembers(
                toGroup subscriptionGroupID: String, isPresented: Binding<Bool>, _ model: PurchaseModel
            ) -> some View {
                multiSeatInvitationSheet(isPresented: isPresented, subscriptionGroupID: subscriptionGroupID)
                    .looks(isPresented, model)
            }
        }
    #endif

    #if os(iOS) || os(macOS) || os(visionOS)
        extension View {
            /// Looks at the current evidence when a sheet closes.
            fileprivate func looks(_ isPresented: Binding<Bool>, _ model: PurchaseModel) -> some View {
                task(id: isPresented.wrappedValue) {
                    if !isPresented.wrappedValue { await model.engine.refreshEntitlements() }
                }
            }
        }
    #endif
#endif
