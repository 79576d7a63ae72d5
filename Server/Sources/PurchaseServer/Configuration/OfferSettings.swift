package import Foundation
package import PurchaseLedger
import PurchaseVerification
import Yams

// The settings of an app about refund requests, offers and retention.

extension RefundPolicies {
    /// The policy for all products, and those of single products.
    static let settings: [Setting<RefundPolicies>] =
        RefundPolicy.settings.map { $0.at(\.others, below: "refunds.") } + [
            Setting(
                "refunds.products", "none", "The settings above for single products, by their ids"
            ) { entry, reader, policies in
                for product in reader.entries(entry) {
                    reader.namedProducts.append(
                        (product.key, reader.entry(product.key, entry.name, product.node, product.place)))
                    var policy = policies.others
                    reader.read(RefundPolicy.settings, product, into: &policy)
                    policies.products[product.key] = policy
                }
            }
        ]

    /// The policies of a file that has what `refunds` has in the settings.
    ///
    /// - Throws: `SettingProblems`, all of them at once.
    package init(settings bytes: [UInt8]) throws(SettingProblems) {
        self.init()
        var reader = SettingsReader()
        if let root = reader.root(bytes) {
            // The table has these names below refunds.
            let top = Node([(Node("refunds"), root.node)])
            reader.read(Self.settings, reader.entry("", "", top, root.place), into: &self)
        }
        guard reader.problems.isEmpty else { throw SettingProblems(problems: reader.problems) }
    }
}

extension RefundPolicy {
    fileprivate static let settings: [Setting<RefundPolicy>] = [
        Setting("answer", "true", "Whether Apple's questions about refund requests are answered", \.answers, .flag),
        Setting(
            "sample_content", "false", "Whether customers could try a part before buying", \.providesSample, .flag),
        preference("undelivered", "was not delivered", \.undelivered),
        preference("unused", "is a consumable of which nothing was used", \.unused),
        preference("partly_used", "is a consumable that was partly used", \.partlyUsed, isPart: true),
        preference("used", "is a consumable that was used", \.used),
        preference("unmeasured", "is no consumable and was delivered", \.unmeasured, isPart: true),
    ]

    private static func preference(
        _ name: String, _ what: String, _ place: any WritableKeyPath<RefundPolicy, PreferredRefund> & Sendable,
        isPart: Bool = false
    ) -> Setting<RefundPolicy> {
        let part = isPart ? ", grant_prorated" : ""
        return Setting(
            name, "none", "The preference if a purchase \(what): none, decline, grant_full\(part)", place,
            SettingForm { entry throws(SettingFault) in
                let preference = try SettingForm<PreferredRefund>.choice.read(entry)
                guard isPart || preference != .grantProrated else {
                    throw SettingFault(
                        "is grant_prorated, which Apple takes for a part only", "Write grant_full, decline or none")
                }
                return preference
            })
    }
}

extension OfferRules {
    /// The offers by their ids, introductory offers and the Advanced Commerce API.
    static let settings: [Setting<OfferRules>] = [
        Setting(
            "offers.promotional", "none", "The promotional offers by their ids in App Store Connect",
            inner: Setting<OfferRule>.rows(OfferRule.settings, below: ".ID.")
        ) { entry, reader, rules in
            for offer in reader.entries(entry) {
                if !ExactText(offer.key).isIdentifier {
                    reader.note(
                        offer.place, "the id of an offer is empty, too long or has control characters",
                        "Write it as in App Store Connect")
                }
                rules.promotional[offer.key] = OfferRule(offer, &reader)
            }
        },
        Setting(
            "offers.introductory", "none", "Who may have introductory offers; settings as for promotional"
        ) { entry, reader, rules in rules.introductory = OfferRule(entry, &reader) },
        Setting(
            "offers.advanced_commerce", "none", "Whose requests of the Advanced Commerce API are signed; as above"
        ) { entry, reader, rules in rules.advancedCommerce = OfferRule(entry, &reader) },
    ]
}

extension OfferRule {
    fileprivate static let settings: [Setting<OfferRule>] = [
        Setting("products", "all", "The products of the offer", isList: true) {
            entry, reader, rule throws(SettingFault) in
            let products = try entry.texts()
            rule.products = Set(products)
            reader.namedProducts += products.map { ($0, entry) }
        },
        Setting("audience", "everybody", "Who may have it: everybody, subscribers, former or new", \.audience, .choice),
        Setting("limit", "none", "How often one customer gets it, up to 1000", \.limit, .number(1...1_000)),
        Setting("within", "for ever", "The time in which the limit counts, such as 30d", \.within, .time),
    ]

    fileprivate init(_ entry: SettingEntry, _ reader: inout SettingsReader) {
        self.init()
        let given = reader.read(Self.settings, entry, into: &self)
        if let within = given["within"], given["limit"] == nil {
            reader.note(
                within, SettingFault("has no limit that it could be about", "Add limit: 1, or remove within", .conflict)
            )
        }
    }
}

/// A rule of retention, before its settings are compared with each other.
struct RetentionSettings: Sendable {
    private var products: Set<String> = []
    private var locales: Set<String> = []
    private var message: UUID?
    private var otherwise: UUID?
    private var alternate: String?
    private var plan: RetentionRule.BillingPlan?
    private var offer: String?
    private var product: String?
    private var data: String?

    private static let table: [Setting<RetentionSettings>] = [
        Setting("products", "all", "The products that the customer is about to cancel", isList: true) {
            entry, reader, rule throws(SettingFault) in
            let products = try entry.texts()
            rule.products = Set(products)
            reader.namedProducts += products.map { ($0, entry) }
        },
        Setting("locales", "all", "The locales, such as de or de-DE", \.locales, .texts),
        Setting("message", "required", "The UUID of a message that Apple approved", \.message, .messageID),
        Setting(
            "otherwise", "message", "The message for customers who may not have the offer", \.otherwise, .messageID),
        named("alternate_product", "The product that is offered instead", \.alternate),
        Setting("billing_plan", "none", "How it is paid: billed_upfront or monthly", \.plan, .choice),
        Setting("promotional_offer", "none", "An offer below offers.promotional", \.offer, .text),
        named("offer_product", "The product of that offer", \.product),
        Setting("advanced_commerce_data", "none", "A request of the Advanced Commerce API", \.data, .text),
    ]

    private static func named(
        _ name: String, _ summary: String, _ place: any WritableKeyPath<RetentionSettings, String?> & Sendable
    ) -> Setting<RetentionSettings> {
        Setting(name, "none", summary) { entry, reader, rule throws(SettingFault) in
            let product = try entry.text()
            rule[keyPath: place] = product
            reader.namedProducts.append((product, entry))
        }
    }

    static let rows: [Setting<AppSettings>] = [
        Setting(
            "retention", "none",
            "A list of rules, of which the first that fits says what Apple shows before a cancellation",
            inner: Setting<RetentionSettings>.rows(table, below: "[].")
        ) { entry, reader, app in
            for item in reader.items(entry, "with a message") {
                var rule = RetentionSettings()
                let given = reader.read(table, item, into: &rule)
                do throws(SettingFault) {
                    app.retention.rules.append(try rule.rule(given, app.app.offers, &reader))
                } catch {
                    // A wrong message was noted already.
                    if rule.message != nil || given["message"] == nil { reader.note(item, error) }
                }
            }
        }
    ]

    private func rule(
        _ given: [String: SettingEntry], _ offers: OfferRules, _ reader: inout SettingsReader
    ) throws(SettingFault) -> RetentionRule {
        guard let message else {
            throw SettingFault(
                "has a rule without a message", "Add message: and the UUID of a message that Apple approved", .missing)
        }
        guard [alternate, offer, data].compactMap(\.self).count <= 1 else {
            throw SettingFault(
                "has a rule with more than one answer",
                "Keep one of alternate_product, promotional_offer and advanced_commerce_data", .conflict)
        }
        if let offer, offers.promotional[offer] == nil, let entry = given["promotional_offer"] {
            reader.note(
                entry.place, "there is no offer '\(offer)' below offers.promotional",
                "Add it there, with who may have it", .conflict)
        }
        for (name, isUsed) in [
            ("otherwise", offer != nil), ("offer_product", offer != nil), ("billing_plan", alternate != nil),
        ] where !isUsed {
            guard let entry = given[name] else { continue }
            reader.note(entry, SettingFault("belongs to another kind of answer", "Remove it", .conflict))
        }
        let answer: RetentionRule.Answer =
            if let offer {
                .promotionalOffer(message, productID: product, offerID: offer, otherwise: otherwise ?? message)
            } else if let alternate {
                .alternateProduct(message, productID: alternate, billingPlan: plan)
            } else if let data {
                .advancedCommerce(message, data: data)
            } else {
                .message(message)
            }
        var rule = RetentionRule(answer)
        (rule.products, rule.locales) = (products, locales)
        return rule
    }
}

extension SettingForm where Value == UUID {
    fileprivate static var messageID: Self {
        parsed("Write the UUID of a message") { $0.utf8.count == 36 ? UUID(uuidString: $0) : nil }
    }
}

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
