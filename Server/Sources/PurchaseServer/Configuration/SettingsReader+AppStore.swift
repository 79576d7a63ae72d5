import Foundation
package import PurchaseLedger
import Yams

/// The settings of an app about refund requests, offers and retention.
extension SettingsReader {
    // MARK: Refund requests

    /// The policies of `refunds`: one for all products, and those of single products below `products`.
    mutating func refunds(_ parent: inout SettingsSection) -> RefundPolicies {
        guard var section = section(&parent, "refunds") else { return RefundPolicies() }
        return refundPolicies(&section)
    }

    fileprivate mutating func refundPolicies(_ section: inout SettingsSection) -> RefundPolicies {
        var policies = RefundPolicies()
        let products = self.section(&section, "products")
        policies.others = refundPolicy(&section, RefundPolicy())
        finish(section)
        for entry in products?.entries ?? [] {
            namedProducts.append((entry.key, "refunds.products", entry.line))
            var section = self.section(entry.value, "refunds.products.\(entry.key)")
            policies.products[entry.key] = refundPolicy(&section, policies.others)
            finish(section)
        }
        return policies
    }

    /// A policy; what it does not name is as in another one.
    private mutating func refundPolicy(_ section: inout SettingsSection, _ others: RefundPolicy) -> RefundPolicy {
        var policy = others
        if let answers = flag(&section, "answer") { policy.answers = answers }
        if let sample = flag(&section, "sample_content") { policy.providesSample = sample }
        let places: [(String, WritableKeyPath<RefundPolicy, PreferredRefund>)] = [
            ("undelivered", \.undelivered), ("unused", \.unused), ("partly_used", \.partlyUsed), ("used", \.used),
            ("unmeasured", \.unmeasured),
        ]
        for (name, place) in places {
            guard let preference = choice(&section, name, PreferredRefund.self) else { continue }
            if preference == .grantProrated, ["undelivered", "unused", "used"].contains(name) {
                note(
                    section.lines[name], "\(name) is grant_prorated, which Apple takes for a part only",
                    "Write grant_full, decline or none")
                continue
            }
            policy[keyPath: place] = preference
        }
        return policy
    }

    // MARK: Offers

    /// The rules of `offers`: `promotional` by the ids of offers, `introductory` and `advanced_commerce`.
    mutating func offers(_ parent: inout SettingsSection) -> OfferRules {
        var rules = OfferRules()
        guard var section = section(&parent, "offers") else { return rules }
        for entry in self.section(&section, "promotional")?.entries ?? [] {
            if !ExactText(entry.key).isIdentifier {
                note(
                    entry.line, "the id of an offer is empty, too long or has control characters",
                    "Write it as in App Store Connect")
            }
            var inner = self.section(entry.value, "offers.promotional.\(entry.key)")
            rules.promotional[entry.key] = offerRule(&inner, "offers.promotional.\(entry.key)")
        }
        if var inner = self.section(&section, "introductory") {
            rules.introductory = offerRule(&inner, "offers.introductory")
        }
        if var inner = self.section(&section, "advanced_commerce") {
            rules.advancedCommerce = offerRule(&inner, "offers.advanced_commerce")
        }
        finish(section)
        return rules
    }

    private mutating func offerRule(_ section: inout SettingsSection, _ name: String) -> OfferRule {
        var rule = OfferRule()
        rule.products = Set(products(&section, name))
        if let audience = choice(&section, "audience", OfferAudience.self) { rule.audience = audience }
        rule.limit = number(&section, "limit", in: 1...1_000)
        let line = section.lines["within"]
        rule.within = lifetime(&section, "within")
        if rule.within != nil, rule.limit == nil {
            note(line, "within has no limit that it could be about", "Add limit: 1, or remove within")
        }
        finish(section)
        return rule
    }

    // MARK: Retention

    /// The rules of `retention`, a list of which the first that fits decides.
    mutating func retention(_ parent: inout SettingsSection, _ offers: OfferRules) -> RetentionRules {
        var rules = RetentionRules()
        guard let entry = parent.take("retention") else { return rules }
        guard let nodes = entry.value.sequence else {
            note(entry.line, "retention is not a list", "Write a list of rules, each with a message")
            return rules
        }
        for node in nodes {
            var section = self.section(node, "retention")
            if let rule = retentionRule(&section, offers, node.mark?.line) { rules.rules.append(rule) }
            finish(section)
        }
        return rules
    }

    private mutating func retentionRule(
        _ section: inout SettingsSection, _ offers: OfferRules, _ line: Int?
    ) -> RetentionRule? {
        let products = products(&section, "retention")
        let locales = section.lines["locales"] == nil ? [] : texts(&section, "locales")
        section.known += ["locales"]
        let message = messageID(&section, "message")
        let otherwise = messageID(&section, "otherwise")
        let alternate = product(&section, "alternate_product")
        let plan = choice(&section, "billing_plan", RetentionRule.BillingPlan.self)
        let offer = text(&section, "promotional_offer")
        let product = product(&section, "offer_product")
        let data = text(&section, "advanced_commerce_data")
        guard let message else {
            if section.lines["message"] == nil {
                note(
                    line, "a rule of retention has no message",
                    "Add message: and the UUID of a message that Apple approved")
            }
            return nil
        }
        guard [alternate, offer, data].compactMap(\.self).count <= 1 else {
            note(
                line, "a rule of retention has more than one answer",
                "Keep one of alternate_product, promotional_offer and advanced_commerce_data")
            return nil
        }
        let answer: RetentionRule.Answer
        if let offer {
            guard offers.promotional[offer] != nil else {
                note(
                    section.lines["promotional_offer"], "there is no offer '\(offer)' below offers.promotional",
                    "Add it there, with who may have it")
                return nil
            }
            answer = .promotionalOffer(message, productID: product, offerID: offer, otherwise: otherwise ?? message)
        } else if let alternate {
            answer = .alternateProduct(message, productID: alternate, billingPlan: plan)
        } else if let data {
            answer = .advancedCommerce(message, data: data)
        } else {
            answer = .message(message)
        }
        for (name, value, isUsed) in [
            ("otherwise", otherwise != nil, offer != nil), ("offer_product", product != nil, offer != nil),
            ("billing_plan", plan != nil, alternate != nil),
        ] where value && !isUsed {
            note(section.lines[name], "\(name) belongs to another kind of answer", "Remove it")
        }
        var rule = RetentionRule(answer)
        (rule.products, rule.locales) = (Set(products), Set(locales))
        return rule
    }

    /// The list `products`, which may be missing.
    private mutating func products(_ section: inout SettingsSection, _ name: String) -> [String] {
        let line = section.lines["products"] ?? nil
        let products = section.lines["products"] == nil ? [] : texts(&section, "products")
        section.known.append("products")
        namedProducts += products.map { ($0, "\(name).products", line) }
        return products
    }

    /// One product of a rule of retention.
    private mutating func product(_ section: inout SettingsSection, _ key: String) -> String? {
        let line = section.lines[key] ?? nil
        let product = text(&section, key)
        if let product { namedProducts.append((product, "retention.\(key)", line)) }
        return product
    }

    private mutating func messageID(_ section: inout SettingsSection, _ key: String) -> UUID? {
        let line = section.lines[key]
        guard let text = text(&section, key) else { return nil }
        guard text.utf8.count == 36, let id = UUID(uuidString: text) else {
            note(line, "\(key) is '\(text.prefix(64))'", "Write the UUID of a message")
            return nil
        }
        return id
    }
}

extension SettingsFile {
    /// The policies of a file that has what `refunds` has in the settings.
    ///
    /// - Throws: `Problems`, all of them at once.
    package static func refundPolicies(in text: String) throws -> RefundPolicies {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw Problems(problems: [SettingsReader.problem(error)])
        }
        guard let root else { return RefundPolicies() }
        var reader = SettingsReader(Surroundings())
        var section = reader.section(root, "the policy")
        let policies = reader.refundPolicies(&section)
        guard reader.problems.isEmpty else { throw Problems(problems: reader.problems) }
        return policies
    }
}
