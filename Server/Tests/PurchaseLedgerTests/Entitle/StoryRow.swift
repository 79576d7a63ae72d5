import PurchaseLedger
import PurchaseVerification
import Testing

/// Evidence of some purchases, and what it says on some days, as text. It holds in every order of arrival.
///
/// `1 yearly 0-365 @12 !10` is transaction 1 of the yearly subscription from day 0 to day 365, signed on day 12 and
/// revoked on day 10; without `@` it was signed when it was revoked or bought. The product is `monthly` if none is
/// named, and transactions of subscriptions belong to the original 1. Days have minutes: `58+3m`.
///
/// | words | |
/// |---|---|
/// | `x3`, `%33333`, `of1`, `t1`, `=7` | quantity, refunded part, original, token, line item (`=` for none) |
/// | `first1`, `seats5`, `less2` | the date of the original purchase, seats that the backend gives, how many were refunded |
/// | `up`, `shared`, `unshared`, `seats`, `receipt`, `cancelled5` | upgraded, in a family, no longer, seats that were added, an entry of a receipt, its cancellation |
///
/// `30 grace46 retry auto1 intent2 by1` is renewal info that was signed on day 30, with the end of the grace period,
/// the retry, the auto-renewal, the intent, and transaction 1 beside it.
///
/// `yearly 5 active, at 15 upgraded until10 of2; monthly 5 -` are answers: on day 5 for now, on day 15 for that time,
/// with the end and the transaction; `-` is any answer without access. The answer for coins is the balance if there is
/// one. They are those of the entitlements and, for a subscription, of its table.
struct StoryRow: Sendable, CustomTestStringConvertible {
    let name: String
    let statements: String
    let renewals: String
    let status: SignedStatus?
    let answers: String
    /// The number of purchases to which the transactions belong.
    let purchases: Int?

    var testDescription: String { name }

    init(
        _ name: String, _ statements: String, _ renewals: String = "", status: SignedStatus? = nil, says: String,
        purchases: Int? = nil
    ) {
        (self.name, self.statements, self.renewals, self.status) = (name, statements, renewals, status)
        (answers, self.purchases) = (says, purchases)
    }

    /// Finds out whether the story says it in every order; of more than five statements, in rotations of both
    /// directions.
    func check() {
        for statements in Self.orders([TransactionStatement].story(statements)) {
            for renewals in Self.orders([RenewalStatement].story(renewals)) {
                var story = PurchaseStory(statements + statements.prefix(1), claimedBy: PurchaseStory.alice)
                story.renewals = renewals
                if let purchases { #expect(story.purchases.count == purchases, "\(name)") }
                let order = statements.map { "\($0.key.transactionID) signed \($0.stamp)" }
                for line in answers.split(separator: ";") {
                    var product: ExactText = "monthly"
                    for text in line.split(separator: ",") {
                        var words = text.split(separator: " ").map(String.init)
                        let isAt = words.count { $0 == "at" } == 1
                        words.removeAll { $0 == "at" }
                        if Double.day(words[0]) == nil { product = ExactText(words.removeFirst()) }
                        let found = story.answers(product, words, isAboutNow: !isAt, status: status)
                        if found != words.joined(separator: " ") {
                            Issue.record("\(name): \(product):\(text) is \(found), in the order \(order)")
                            return
                        }
                    }
                }
            }
        }
    }

    static func orders<Value>(_ values: [Value], most: Int = 5) -> [[Value]] {
        guard values.count > 1 else { return [values] }
        guard values.count <= most else {
            return values.indices.flatMap { place in
                let rotated = Array(values[place...] + values[..<place])
                return [rotated, rotated.reversed()]
            }
        }
        return values.indices.flatMap { place in
            var rest = values
            let first = rest.remove(at: place)
            return orders(rest, most: most).map { [first] + $0 }
        }
    }
}

extension PurchaseStory {
    /// A story in which a customer claims each purchase.
    init(_ statements: [TransactionStatement], claimedBy customer: CustomerNumber) {
        self.init()
        self.statements = statements
        var ids: [String] = []
        for statement in statements {
            let id = (statement.originalTransactionID ?? statement.key.transactionID).string
            if !ids.contains(id) { ids.append(id) }
        }
        for id in ids.sorted() { claim(id, customer) }
    }

    init(_ text: String, claimedBy customer: CustomerNumber = alice) {
        self.init(.story(text), claimedBy: customer)
    }

    /// The answers in the form of the expected words, with alice as the customer.
    fileprivate func answers(
        _ product: ExactText, _ expected: [String], isAboutNow: Bool, status: SignedStatus?
    ) -> String {
        let moment = Timestamp.day(Double.day(expected[0]) ?? 0)
        let question = isAboutNow ? AccessQuestion.now(moment) : .at(moment)
        let access = entitlements(of: Self.alice).access(question, refundShortfall: .forgive)
            .first { $0.productID == product }
        let table = SubscriptionTable(purchases, renewal: renewalFacts.values.first, status: status)
        let state = table.states(question).first { $0.key.productID == product && $0.key.owner == Self.alice }?.value
        func text(_ answer: String, isActive: Bool, until: Timestamp?, of transaction: TransactionKey?) -> String {
            let facts = expected.dropFirst(2).filter { word in
                let end = word.hasPrefix("until") ? Double.day(word.dropFirst(5)) : nil
                return end.map { until == .day($0) } ?? (transaction == .sample(String(word.dropFirst(2))))
            }
            return ([expected[0], expected[1] == "-" && !isActive ? "-" : answer] + facts).joined(separator: " ")
        }
        let active = access.map { $0.balance > 0 ? "\($0.balance)" : $0.isInGrace ? "in_grace" : "active" } ?? "none"
        let first = text(
            access?.denial?.rawValue ?? active, isActive: access?.isActive ?? false, until: access?.until,
            of: access?.transaction)
        guard terms[product]?.kind == .autoRenewable, let state else { return first }
        let second = text(
            state.reason?.rawValue ?? "active", isActive: state.givesAccess, until: state.until, of: state.transaction)
        // The entitlements do not know a status.
        return status != nil || first == second ? second : "\(first), and in the table \(second)"
    }
}

extension Double {
    /// A day with minutes: `58`, `58+3m`, `58-3m`.
    fileprivate static func day(_ text: some StringProtocol) -> Double? {
        if let day = Double(text) { return day }
        guard text.hasSuffix("m"), let place = text.dropFirst().lastIndex(where: { "+-".contains($0) }),
            let day = Double(text[..<place]), let minutes = Double(text[place...].dropLast())
        else { return nil }
        return day + minutes / 1440
    }
}

extension [TransactionStatement] {
    static func story(_ text: String) -> [TransactionStatement] {
        text.split(separator: ";").map { TransactionStatement.story(String($0)) }
    }
}

extension TransactionStatement {
    /// Reads a statement of a story.
    static func story(_ text: String) -> TransactionStatement {
        let kinds: [String: ProductKind] = [
            "coins": .consumable, "pro": .nonConsumable, "pass": .nonRenewing, "yearly": .autoRenewable,
        ]
        var words = text.split(separator: " ").map(String.init)
        let id = words.removeFirst()
        let product = Double.day(words[0].split(separator: "-")[0]) == nil ? words.removeFirst() : "monthly"
        let kind = kinds[product] ?? .autoRenewable
        let days = words.removeFirst().split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        func number(_ prefix: String) -> Double? {
            words.lazy.filter { $0.hasPrefix(prefix) }.compactMap { Double.day($0.dropFirst(prefix.count)) }.first
        }
        let start = Double.day(days[0]) ?? 0
        let original = number("of").map { "\(Int($0))" } ?? (kind == .autoRenewable ? "1" : nil)
        let revoked = number("!")
        var statement = signed(
            id, ExactText(product), kind, on: start, original: original,
            until: days.count > 1 ? Double.day(days[1]) : nil,
            quantity: Int64(number("x") ?? 1), stamp: number("@") ?? revoked, revoked: revoked,
            percentage: number("%").map { Int64($0) }, isUpgraded: words.contains("up"),
            isShared: words.contains("shared"))
        if words.contains("unshared") { statement.revocation?.type = "FAMILY_REVOKE" }
        if let line = words.first(where: { $0.hasPrefix("=") }) {
            statement.lineItemID = line == "=" ? nil : ExactText("line-\(line.dropFirst())")
        }
        if words.contains("seats") { statement.seats = SeatFacts(quantity: 3, additionReason: "SEAT_ADDITION") }
        if let seats = number("seats") {
            statement.quantity = nil
            statement.seats = SeatFacts(
                quantity: Int64(seats), revoked: Int64(number("less") ?? 0), invitationManagement: "DEVELOPER",
                additionReason: "SEAT_ADDITION")
        }
        if let day = number("first") { statement.originalPurchaseDate = .day(day) }
        statement.cancellation = number("cancelled").map(Timestamp.day)
        statement.accountToken = number("t").map { .sample(UInt64($0)) }
        if words.contains("receipt") || statement.cancellation != nil { statement.source = .appReceipt }
        return statement
    }
}

extension [RenewalStatement] {
    static func story(_ text: String) -> [RenewalStatement] {
        text.split(separator: ";").map { part in
            let words = part.split(separator: " ")
            func number(_ prefix: String) -> Double? {
                words.lazy.filter { $0.hasPrefix(prefix) }.compactMap { Double.day($0.dropFirst(prefix.count)) }.first
            }
            return .signed(
                "1", stamp: Double.day(words[0]) ?? 0, grace: number("grace"),
                isInBillingRetry: words.contains("retry") ? true : nil, autoRenew: number("auto").map { Int64($0) },
                intent: number("intent").map { Int64($0) }, beside: number("by").map { ExactText("\(Int($0))") },
                isGraceEndUnknown: words.contains("grace"))
        }
    }
}
