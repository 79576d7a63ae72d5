import Foundation

/// A sale, a renewal or a refund with an external purchase token, in Apple's form: `OneTimeBuyLineItem`,
/// `SubscriptionBuyLineItem` or `RefundLineItem` of the External Purchase Server API 1.2.
///
/// Only members that those pages state are taken: a report with another one would be refused as a whole.
public struct ExternalLineItem: Sendable, Equatable {
    /// The longest text that Apple takes, in bytes.
    public static let longestText = 128
    /// The most line items of one request: a month of one customer, and a body that is read at once.
    public static let mostInRequest = 200

    /// Unique for the app.
    public let id: String
    /// Apple's members except `restatement`, as JSON with sorted names: what two statements of an item are compared by.
    public let content: String
    /// Whether it corrects an earlier statement.
    public let isRestatement: Bool
    /// Whether it withdraws an earlier statement.
    public let isErroneous: Bool

    /// Why an object is no line item: the member, and what is expected of it.
    public struct Flaw: Error, Equatable {
        public let member: String
        public let expected: String
    }

    fileprivate enum Value {
        case text
        case letters(Int)
        case milliseconds
        case whole
        case decimal
        case flag
        case one([String])
    }

    private enum Kind: String { case once = "ONE_TIME_BUY", subscription = "SUBSCRIPTION", refund = "REFUND" }

    /// A member, the kinds that have it, and whether they must.
    private struct Member {
        let name: String
        let value: Value
        let isRequired: Bool
        let kinds: [Kind]

        init(
            _ name: String, _ value: Value, _ isRequired: Bool = true,
            of kinds: [Kind] = [.once, .subscription, .refund]
        ) {
            (self.name, self.value, self.isRequired, self.kinds) = (name, value, isRequired, kinds)
        }
    }

    private static let sales: [Kind] = [.once, .subscription]
    private static let members = [
        Member("lineItemId", .text), Member("creationDate", .milliseconds),
        Member("eventType", .one(["BUY", "REFUND"])),
        Member("productType", .one(["ONE_TIME_BUY", "SUBSCRIPTION"]), of: sales),
        Member("productIdentifier", .text, of: sales), Member("quantity", .whole, of: sales),
        Member("amountTaxExclusive", .whole), Member("amountTaxInclusive", .whole),
        Member("netAmountTaxExclusive", .whole), Member("taxAmount", .whole),
        Member("reportingCurrency", .letters(3)), Member("pricingCurrency", .letters(3)),
        Member("exchangeRate", .decimal, false), Member("taxCountry", .letters(3)),
        Member("restatement", .flag, false), Member("erroneouslySubmitted", .flag, false),
        Member("referenceLineItemId", .text, of: [.refund]),
        Member("referenceLineItemId", .text, false, of: [.subscription]),
        Member(
            "subscriptionEvent",
            .one(["SUBSCRIPTION_START", "RENEWAL", "SUBSCRIPTION_CHANGE", "SUBSCRIPTION_PAYMENT"]),
            of: [.subscription]),
        Member("subscriptionStartDate", .milliseconds, of: [.subscription]),
        Member("subscriptionEndDate", .milliseconds, of: [.subscription]),
        Member("subscriptionDaysOfPaidService", .whole, of: [.subscription]),
    ]

    /// Reads a line item as a backend states it, or as Apple returns it.
    public init(_ object: [String: Any]) throws(Flaw) {
        let isRefund = object["eventType"] as? String == "REFUND"
        let kind = isRefund ? Kind.refund : Kind(rawValue: object["productType"] as? String ?? "") ?? .once
        var kept = object
        var known: Set<String> = []
        for member in Self.members where member.kinds.contains(kind) {
            known.insert(member.name)
            guard let value = object[member.name], !(value is NSNull) else {
                guard !member.isRequired else { throw Flaw(member: member.name, expected: member.value.words) }
                kept[member.name] = nil
                continue
            }
            guard member.value.takes(value) else { throw Flaw(member: member.name, expected: member.value.words) }
        }
        if let other = object.keys.filter({ !known.contains($0) }).min() {
            throw Flaw(member: other, expected: "a member of Apple's line item of this kind")
        }
        func whole(_ name: String) -> Int64 { (object[name] as? NSNumber)?.int64Value ?? 0 }
        guard
            whole("amountTaxExclusive").addingReportingOverflow(whole("taxAmount")) == (
                whole("amountTaxInclusive"), false
            )
        else {
            throw Flaw(
                member: "amountTaxInclusive",
                expected: "amountTaxExclusive \(whole("amountTaxExclusive")) and taxAmount \(whole("taxAmount"))")
        }
        guard whole("subscriptionStartDate") <= whole("subscriptionEndDate") else {
            throw Flaw(member: "subscriptionEndDate", expected: "not before subscriptionStartDate")
        }
        let isExchanged = object["pricingCurrency"] as? String != object["reportingCurrency"] as? String
        guard isExchanged == (kept["exchangeRate"] != nil) else {
            throw Flaw(member: "exchangeRate", expected: "a rate exactly if the two currencies differ")
        }
        (id, isErroneous) = (object["lineItemId"] as? String ?? "", Self.isTrue(object["erroneouslySubmitted"]))
        isRestatement = Self.isTrue(object["restatement"])
        guard isRestatement || !isErroneous else {
            throw Flaw(member: "restatement", expected: "true beside erroneouslySubmitted")
        }
        kept["restatement"] = nil
        if !isErroneous { kept["erroneouslySubmitted"] = nil }
        guard
            let json = try? JSONSerialization.data(
                withJSONObject: kept, options: [.sortedKeys, .withoutEscapingSlashes])
        else { throw Flaw(member: "lineItemId", expected: "text in Unicode") }
        content = String(decoding: json, as: UTF8.self)
    }

    /// The item as it is sent to Apple.
    ///
    /// - Parameter isRestatement: whether Apple has an earlier statement of it.
    public static func sent(content: String, isRestatement: Bool) -> String {
        isRestatement ? "{\"restatement\":true," + content.dropFirst() : content
    }

    private static func isTrue(_ value: Any?) -> Bool { (value as? NSNumber)?.boolValue ?? false }
}

extension ExternalLineItem.Value {
    fileprivate var words: String {
        switch self {
        case .text: "a text of 1 to \(ExternalLineItem.longestText) bytes"
        case .letters(let count): "\(count) capital letters"
        case .milliseconds: "milliseconds since 1970"
        case .whole: "a whole number from 0"
        case .decimal: "a number above 0"
        case .flag: "true or false"
        case .one(let words): words.joined(separator: " or ")
        }
    }

    fileprivate func takes(_ value: Any) -> Bool {
        let number = (value as? NSNumber).flatMap { RequestMembers.isBoolean($0) ? nil : $0.doubleValue }
        switch self {
        case .text:
            guard let text = value as? String else { return false }
            return (1...ExternalLineItem.longestText).contains(text.utf8.count) && !text.utf8.contains { $0 < 0x20 }
        case .letters(let count):
            guard let text = value as? String else { return false }
            return text.utf8.count == count
                && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        // Exact in every JSON reader.
        case .whole, .milliseconds:
            return number.map { $0 >= 0 && $0 <= 9_007_199_254_740_991 && $0 == $0.rounded() } ?? false
        case .decimal: return number.map { $0 > 0 && $0.isFinite } ?? false
        case .flag: return (value as? NSNumber).map(RequestMembers.isBoolean) ?? false
        case .one(let words): return (value as? String).map(words.contains) ?? false
        }
    }
}
