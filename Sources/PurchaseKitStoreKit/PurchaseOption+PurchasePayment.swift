#if canImport(StoreKit)
    import Foundation
    import PurchaseKit
    import StoreKit

    extension Product.PurchaseOption {
        /// The options of StoreKit 2 for a payment.
        ///
        /// - Throws: `PurchaseError` if the product or this system has no such offer, seats or billing plan: the
        ///   customer must not pay something else instead.
        static func options(
            of payment: PurchasePayment, for product: Product
        ) throws -> Set<Product.PurchaseOption> {
            var options: Set<Product.PurchaseOption> = []
            options.insert(try payment.seats.map { try total($0) } ?? .quantity(payment.quantity))
            if let plan = payment.plan { options.insert(try billing(plan, product)) }
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

        /// The seats after the purchase. The option is in the SDK of iOS 27.3, which the package's trait says.
        private static func total(_ seats: Int) throws -> Product.PurchaseOption {
            #if StoreKit27
                .seats(seats)
            #else
                throw PurchaseError(.queueFailed, expected: "the trait StoreKit27", found: "\(seats) seats")
            #endif
        }

        private static func billing(_ plan: BillingPlan, _ product: Product) throws -> Product.PurchaseOption {
            #if StoreKit27
                guard #available(iOS 26.4, macOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else {
                    throw PurchaseError(
                        .queueFailed, expected: "a system with billing plans (26.4)", found: "an older system")
                }
                let type: Product.SubscriptionInfo.BillingPlanType = plan == .monthly ? .monthly : .upFront
                guard product.subscription?.pricingTerms.contains(where: { $0.billingPlanType == type }) ?? false
                else { throw PurchaseError(.queueFailed, expected: "a plan of the product", found: "\(plan)") }
                return .billingPlanType(type)
            #else
                throw PurchaseError(.queueFailed, expected: "the trait StoreKit27", found: "a billing plan")
            #endif
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
