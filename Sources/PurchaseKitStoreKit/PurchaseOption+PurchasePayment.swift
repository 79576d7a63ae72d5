#if canImport(StoreKit)
    import Foundation
    import PurchaseKit
    import StoreKit

    extension Product.PurchaseOption {
        /// The options of StoreKit 2 for a payment.
        ///
        /// - Throws: `PurchaseError` if the product or this system has no such offer: the customer must not pay the
        ///   full price instead.
        static func options(
            of payment: PurchasePayment, for product: Product
        ) throws -> Set<Product.PurchaseOption> {
            var options: Set<Product.PurchaseOption> = [.quantity(payment.quantity)]
            if let token = payment.appAccountToken { options.insert(.appAccountToken(token)) }
            if payment.simulatesAskToBuyInSandbox { options.insert(.simulatesAskToBuyInSandbox(true)) }
            switch payment.offer {
            case nil: break
            case .promotional(let id, let keyID, let nonce, let signature, let timestamp):
                // Milliseconds, which `Int` of a watch with 32 bits cannot hold.
                guard let timestamp = Int(exactly: timestamp) else {
                    throw PurchaseError(
                        .queueFailed, expected: "a promotional offer as a JWS on this watch",
                        found: "one whose time has 64 bits")
                }
                options.insert(
                    .promotionalOffer(
                        offerID: id, keyID: keyID, nonce: nonce, signature: signature, timestamp: timestamp))
            case .promotionalJWS(let id, let jws):
                options.formUnion(Product.PurchaseOption.promotionalOffer(id, compactJWS: jws))
            case .introductory(let jws): options.insert(.introductoryOfferEligibility(compactJWS: jws))
            case .winBack(let id): options.insert(try winBack(id, product))
            }
            return options
        }

        private static func winBack(_ id: String, _ product: Product) throws -> Product.PurchaseOption {
            guard #available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *) else {
                throw PurchaseError(
                    .queueFailed, expected: "a system with win-back offers (iOS 18, macOS 15)",
                    found: "an older system")
            }
            guard let offer = product.subscription?.winBackOffers.first(where: { $0.id == id }) else {
                throw PurchaseError(.queueFailed, expected: "a win-back offer of the product", found: id)
            }
            return .winBackOffer(offer)
        }
    }
#endif
