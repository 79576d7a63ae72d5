#if canImport(StoreKit)
    import Foundation
    import PurchaseKit
    import StoreKit

    /// The products of the App Store, for both queues: StoreKit 2 knows them on every system that the package supports.
    enum ProductList {
        /// The products in the order of their ids. Those that the App Store does not sell are left out.
        static func list(_ productIDs: [String]) async throws -> [PurchaseProduct] {
            let products = try await Product.products(for: productIDs)
            var listed: [PurchaseProduct] = []
            for id in productIDs {
                guard let product = products.first(where: { $0.id == id }) else { continue }
                var offers: [PurchaseProductOffer] = []
                if let subscription = product.subscription { offers = await Self.offers(subscription) }
                var shown = PurchaseProduct(
                    productID: product.id, kind: kind(product.type), name: product.displayName,
                    summary: product.description, price: product.price, priceText: product.displayPrice,
                    currencyCode: product.priceFormatStyle.currencyCode,
                    period: product.subscription.flatMap { period($0.subscriptionPeriod) },
                    periodText: product.subscription.map {
                        $0.subscriptionPeriod.formatted(product.subscriptionPeriodFormatStyle)
                    },
                    subscriptionGroupID: product.subscription?.subscriptionGroupID, offers: offers)
                if let subscription = product.subscription { shown.plans = plans(subscription) }
                shown.pricePerMonthText = shown.pricePerMonth.map { product.priceFormatStyle.format($0) }
                listed.append(shown)
            }
            return listed
        }

        static func kind(_ type: Product.ProductType) -> PurchaseProductKind? {
            switch type {
            case .consumable: .consumable
            case .nonConsumable: .nonConsumable
            case .nonRenewable: .nonRenewingSubscription
            case .autoRenewable: .autoRenewableSubscription
            default: nil
            }
        }

        private static func period(_ period: Product.SubscriptionPeriod) -> PurchasePeriod? {
            switch period.unit {
            case .day: PurchasePeriod(period.value, .day)
            case .week: PurchasePeriod(period.value, .week)
            case .month: PurchasePeriod(period.value, .month)
            case .year: PurchasePeriod(period.value, .year)
            @unknown default: nil
            }
        }

        /// The plans that this version can buy (`PurchasePayment.plan`).
        private static func plans(_ subscription: Product.SubscriptionInfo) -> [PurchaseProductPlan] {
            #if StoreKit27
                guard #available(iOS 26.4, macOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else { return [] }
                let plans: [(Product.SubscriptionInfo.BillingPlanType, BillingPlan)] = [
                    (.upFront, .upFront), (.monthly, .monthly),
                ]
                return subscription.pricingTerms.compactMap { terms in
                    guard let plan = plans.first(where: { $0.0 == terms.billingPlanType })?.1 else { return nil }
                    return PurchaseProductPlan(
                        plan: plan, price: terms.billingPrice, priceText: terms.billingDisplayPrice,
                        commitmentPrice: terms.commitmentInfo.price,
                        commitmentPriceText: terms.commitmentInfo.displayPrice)
                }
            #else
                return []
            #endif
        }

        private static func offers(_ subscription: Product.SubscriptionInfo) async -> [PurchaseProductOffer] {
            var offers: [PurchaseProductOffer] = []
            if let introductory = subscription.introductoryOffer {
                let isEligible = await subscription.isEligibleForIntroOffer
                offers += [offer(introductory, .introductory, isEligible: isEligible)].compactMap(\.self)
            }
            offers += subscription.promotionalOffers.compactMap { offer($0, .promotional, isEligible: nil) }
            guard #available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *),
                !subscription.winBackOffers.isEmpty
            else { return offers }
            let eligible = await eligibleWinBackOffers(subscription.subscriptionGroupID)
            for winBack in subscription.winBackOffers {
                let isEligible = eligible.map { ids in winBack.id.map { ids.contains($0) } ?? false }
                offers += [offer(winBack, .winBack, isEligible: isEligible)].compactMap(\.self)
            }
            return offers
        }

        /// `nil` if the system cannot say it now.
        @available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *)
        private static func eligibleWinBackOffers(_ group: String) async -> [String]? {
            let statuses = try? await Product.SubscriptionInfo.status(for: group)
            return statuses?.flatMap { $0.renewalInfo.unsafePayloadValue.eligibleWinBackOfferIDs }
        }

        /// An offer of a way of payment that this version knows; a shop could not describe others.
        private static func offer(
            _ offer: Product.SubscriptionOffer, _ kind: PurchaseProductOffer.Kind, isEligible: Bool?
        ) -> PurchaseProductOffer? {
            let payment: PurchaseProductOffer.Payment
            switch offer.paymentMode {
            case .freeTrial: payment = .freeTrial
            case .payAsYouGo: payment = .payAsYouGo
            case .payUpFront: payment = .payUpFront
            default: return nil
            }
            guard let period = period(offer.period) else { return nil }
            return PurchaseProductOffer(
                offerID: offer.id, kind: kind, payment: payment, price: offer.price, priceText: offer.displayPrice,
                period: period, periodCount: offer.periodCount, isEligible: isEligible)
        }
    }
#endif
