#if canImport(StoreKit) && !os(tvOS) && !os(watchOS) && !os(visionOS)
    public import PurchaseKit
    import StoreKit

    @available(iOS 16.4, macOS 14.4, macCatalyst 16.4, *)
    extension PurchaseEngine {
        /// Reports products that customers choose on the App Store, promoted ones and win-back offers, until the task
        /// is cancelled. The app decides, and calls `buy` with the product and the offer.
        public func followPurchaseIntents() async {
            for await intent in PurchaseIntent.intents { promote(intent.product.id, offer: planted("a6d") ? nil : intent.paymentOffer) }
        }
    }

    @available(iOS 16.4, macOS 14.4, macCatalyst 16.4, *)
    extension PurchaseIntent {
        /// The offer that the customer chose; `nil` if they chose none. Other kinds than win-back need a signature
        /// first.
        fileprivate var paymentOffer: PaymentOffer? {
            guard #available(iOS 18, macOS 15, macCatalyst 18, *), let offer, offer.type == .winBack else { return nil }
            return offer.id.map { .winBack(id: $0) }
        }
    }
#endif
