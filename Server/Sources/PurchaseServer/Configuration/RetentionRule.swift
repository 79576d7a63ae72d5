package import Foundation
import PurchaseVerification

/// For whom a message is shown, and what with it.
package struct RetentionRule: Sendable, Equatable {
    /// The products that the customer is about to cancel; empty for all.
    package var products: Set<String> = []
    /// Locales such as `de` or `de-DE`; the first also means the second. Empty for all.
    package var locales: Set<String> = []
    package var answer: Answer

    /// The four forms of an answer.
    package enum Answer: Sendable, Equatable {
        case message(UUID)
        case alternateProduct(UUID, productID: String, billingPlan: BillingPlan?)
        /// An offer of the app's `offers`, with the message for customers who may not have it.
        case promotionalOffer(UUID, productID: String?, offerID: String, otherwise: UUID)
        /// A request of the Advanced Commerce API, signed for the customer.
        case advancedCommerce(UUID, data: String)
    }

    /// How another product is paid (Apple, "billingPlanType").
    package enum BillingPlan: String, Sendable, CaseIterable {
        case upfront = "billed_upfront"
        case monthly
        /// Apple's name.
        package var name: String { rawValue.uppercased() }
    }

    package init(_ answer: Answer) { self.answer = answer }

    func fits(productID: String?, locale: String?) -> Bool {
        guard products.isEmpty || productID.map({ id in products.contains { $0.isSame(as: id) } }) ?? false else {
            return false
        }
        guard !locales.isEmpty else { return true }
        // Apple writes `en-US`, and `_` in older systems.
        guard let locale = locale.map({ $0.lowercased().replacing("_", with: "-") }), locale.utf8.count <= 64 else {
            return false
        }
        return locales.contains { known in
            let known = known.lowercased().replacing("_", with: "-")
            return locale == known || locale.hasPrefix("\(known)-")
        }
    }
}

/// What an app answers when Apple asks which message to show to a customer who is about to cancel.
public struct RetentionRules: Sendable, Equatable {
    /// The rules in their order; the first that fits decides.
    package var rules: [RetentionRule] = []

    package init() {}

    /// The rule for a request; `nil` if none fits, so that Apple shows the message that is set by default.
    package func rule(productID: String?, locale: String?) -> RetentionRule? {
        rules.first { $0.fits(productID: productID, locale: locale) }
    }
}
