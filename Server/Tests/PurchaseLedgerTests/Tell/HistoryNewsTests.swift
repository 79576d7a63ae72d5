import PurchaseLedger
import PurchaseVerification
import Testing

/// What events tell of a change, without a database.
@Suite("News of purchases")
struct HistoryNewsTests {
    private static let alice = PurchaseStory.alice
    private static let bob = PurchaseStory.bob

    /// A transaction of which some statements were known, and others arrive.
    private static func transaction(
        _ before: [TransactionStatement], then after: [TransactionStatement] = [], from former: CustomerNumber? = alice,
        to owner: CustomerNumber? = alice, isRegistered: (before: Bool, now: Bool) = (true, true)
    ) -> ChangedTransaction {
        func facts(_ statements: [TransactionStatement]) -> ObservedTransaction? {
            statements.reduce(nil) { facts, statement in
                facts?.merged(with: statement) ?? ObservedTransaction(statement)
            }
        }
        func state(
            _ facts: ObservedTransaction, _ owner: CustomerNumber?, _ isRegistered: Bool
        ) -> ChangedTransaction.State {
            ChangedTransaction.State(
                facts, owner: owner, terms: isRegistered ? facts.kind.map { ProductTerms(kind: $0) } : nil)
        }
        let known = facts(before)
        guard let current = after.isEmpty ? known : facts(before + after) else { fatalError("no statement") }
        return ChangedTransaction(
            from: known.map { state($0, former, isRegistered.before) }, to: state(current, owner, isRegistered.now))
    }

    private static func bought(_ statement: TransactionStatement, by owner: CustomerNumber? = alice)
        -> ChangedTransaction
    {
        transaction([], then: [statement], to: owner)
    }

    private static func news(
        _ transactions: [ChangedTransaction], day: Double = 100,
        _ change: (inout ChangedHistory) -> Void = { _ in }
    ) -> [PurchaseNews] {
        var history = ChangedHistory(transactions)
        change(&history)
        return HistoryNews(history, at: .day(day)).news
    }

    /// The type, the transaction and the customer of each, in short.
    private static func short(_ news: [PurchaseNews]) -> [String] {
        let names = [alice: "Alice", bob: "Bob"]
        return news.map { one in
            let units = one.units.map { " \($0)" } ?? ""
            let customer = one.customer.flatMap { names[$0] } ?? "nobody"
            return "\(one.type.rawValue)\(units) of \(one.transaction.transactionID) to \(customer)"
        }
    }

    private static func period(
        _ id: String, on start: Double, stamp: Double? = nil, until end: Double? = nil, revoked: Double? = nil,
        seats: SeatFacts? = nil
    ) -> TransactionStatement {
        var statement = TransactionStatement.signed(
            id, "monthly", .autoRenewable, on: start, original: "1", until: end ?? start + 30, stamp: stamp,
            revoked: revoked)
        statement.seats = seats
        return statement
    }

    @Test("30 A member's first access is granted, and the next period renews it")
    func members() {
        func copy(_ id: String, on start: Double) -> TransactionStatement {
            var statement = Self.period(id, on: start)
            (statement.ownershipType, statement.appTransactionID) = ("FAMILY_SHARED", "b")
            return statement
        }
        let buyer = Self.transaction([Self.period("1", on: 0)])
        let first = Self.bought(copy("2", on: 0), by: Self.bob)
        #expect(Self.short(Self.news([buyer, first])) == ["granted 1 of 2 to Bob"])
        let known = Self.transaction([copy("2", on: 0)], from: Self.bob, to: Self.bob)
        let next = Self.bought(copy("3", on: 30), by: Self.bob)
        #expect(Self.short(Self.news([buyer, known, next])) == ["renewed 1 of 3 to Bob"])
    }

    // MARK: Owners

    @Test("33.1 A purchase is granted to its first owner, and a held one is told to nobody")
    func granted() {
        let coins = TransactionStatement.signed("1", "coins", .consumable, on: 0, quantity: 3)
        #expect(Self.short(Self.news([Self.bought(coins)])) == ["granted 3 of 1 to Alice"])
        #expect(Self.news([Self.bought(coins, by: nil)]) == [])
        let claimed = Self.transaction([coins], from: nil, to: Self.bob)
        #expect(Self.short(Self.news([claimed])) == ["granted 3 of 1 to Bob"])
        #expect(Self.news([Self.transaction([coins])]) == [])
    }

    @Test("33.1 A further period of a subscription is a renewal, if an earlier one had an owner before")
    func renewed() {
        let (first, second) = (Self.period("1", on: 0), Self.period("2", on: 30))
        #expect(Self.short(Self.news([Self.transaction([first]), Self.bought(second)])) == ["renewed 1 of 2 to Alice"])
        #expect(
            Self.short(Self.news([Self.bought(first), Self.bought(second)]))
                == ["granted 1 of 1 to Alice", "granted 1 of 2 to Alice"])
        #expect(Self.news([Self.transaction([first]), Self.bought(second)]).map(\.until) == [.day(60)])
    }

    @Test("33.1 Two transactions of seats that begin a further period together both renew it")
    func seatsTogether() {
        func bought(_ id: String, on start: Double) -> TransactionStatement {
            var statement = Self.period(id, on: start, seats: SeatFacts(quantity: 2))
            statement.lineItemID = "line"
            return statement
        }
        let known = Self.transaction([bought("1", on: 0)])
        let news = Self.news([known, Self.bought(bought("2", on: 30)), Self.bought(bought("3", on: 30))])
        #expect(Self.short(news) == ["renewed 2 of 2 to Alice", "renewed 2 of 3 to Alice"])
    }

    @Test("33.1 A transfer is told to both owners, and names the former one")
    func transferred() {
        let coins = TransactionStatement.signed("1", "coins", .consumable, on: 0)
        let news = Self.news([Self.transaction([coins], from: Self.alice, to: Self.bob)])
        #expect(Self.short(news) == ["transferred 1 of 1 to Bob", "transferred 1 of 1 to Alice"])
        #expect(news.map(\.former) == [Self.alice, Self.alice] && news.map(\.reason) == [nil, "to_another_customer"])
        // Better facts can leave it to nobody.
        #expect(Self.news([Self.transaction([coins], from: Self.alice, to: nil)]) == [])
    }

    @Test("33.1 A copy of what the owner has is not granted again")
    func copies() {
        let pro = TransactionStatement.signed("1", "pro", .nonConsumable, on: 0)
        let copy = TransactionStatement.signed("2", "pro", .nonConsumable, on: 5, original: "1")
        #expect(Self.news([Self.transaction([pro]), Self.bought(copy)]) == [])
        #expect(Self.short(Self.news([Self.bought(pro), Self.bought(copy)])) == ["granted 1 of 1 to Alice"])
        // The first that was observed, not the first that was bought.
        #expect(Self.short(Self.news([Self.bought(copy), Self.bought(pro)])) == ["granted 1 of 2 to Alice"])
        #expect(
            Self.short(Self.news([Self.transaction([pro], from: Self.bob, to: Self.bob), Self.bought(copy)]))
                == ["granted 1 of 2 to Alice"])
        #expect(Self.news([Self.transaction([pro], from: nil, to: nil), Self.bought(copy, by: nil)]) == [])
    }

    // MARK: Withdrawals

    @Test("33.1 A refund and its reversal tell the units that changed")
    func refunded() {
        func coins(_ stamp: Double, _ percentage: Int64?) -> TransactionStatement {
            .signed(
                "1", "coins", .consumable, on: 0, quantity: 4, stamp: stamp, revoked: percentage == nil ? nil : 2,
                percentage: percentage)
        }
        let steps: [(before: Int64?, now: Int64?, told: [String])] = [
            (nil, 25_000, ["revoked 1 of 1 to Alice"]), (25_000, 100_000, ["revoked 3 of 1 to Alice"]),
            (100_000, 50_000, ["reversed 2 of 1 to Alice"]), (50_000, nil, ["reversed 2 of 1 to Alice"]),
            (50_000, 50_000, []),
        ]
        for step in steps {
            let change = Self.transaction([coins(3, step.before)], then: [coins(4, step.now)])
            #expect(Self.short(Self.news([change])) == step.told, "\(step)")
        }
        // Refunded before it was known.
        #expect(
            Self.short(Self.news([Self.bought(coins(3, 100_000))]))
                == ["granted 4 of 1 to Alice", "revoked 4 of 1 to Alice"])
    }

    @Test("33.1 Of several copies, the first one whose facts changed tells the withdrawal")
    func refundedCopy() {
        let pro = TransactionStatement.signed("1", "pro", .nonConsumable, on: 0)
        let copy = TransactionStatement.signed("2", "pro", .nonConsumable, on: 5, original: "1")
        let refund = TransactionStatement.signed(
            "2", "pro", .nonConsumable, on: 5, original: "1", stamp: 10, revoked: 10)
        let news = Self.news([Self.transaction([pro]), Self.transaction([copy], then: [refund])])
        #expect(Self.short(news) == ["revoked 1 of 2 to Alice"])
        let reversal = TransactionStatement.signed("1", "pro", .nonConsumable, on: 0, stamp: 12)
        let later = Self.news([Self.transaction([pro], then: [reversal]), Self.transaction([copy, refund])])
        #expect(Self.short(later) == ["reversed 1 of 1 to Alice"])
    }

    @Test("33.1 A cancellation that only the App Store's answer states has that reason")
    func cancelledByHint() {
        var change = Self.transaction(
            [.receipt("1", "pro", .nonConsumable, on: 0)],
            then: [.receipt("1", "pro", .nonConsumable, on: 0, cancelled: 3)])
        #expect(Self.news([change]).map(\.reason) == [nil])
        change.isCancelledByHint = true
        #expect(Self.news([change]).map(\.reason) == ["app_store_answer"])
    }

    @Test("33.1 A status of revocation is told once")
    func status() {
        let (period, revoked) = (Self.period("1", on: 0), Self.period("1", on: 0, stamp: 12, revoked: 11))
        func news(
            _ transaction: ChangedTransaction, _ before: [String: SignedStatus], _ now: [String: SignedStatus]
        ) -> [String] {
            Self.short(Self.news([transaction], day: 15) { ($0.formerStatuses, $0.statuses) = (before, now) })
        }
        let known = Self.transaction([period])
        let name = PurchaseHolder.buyer.name
        let named = [name: SignedStatus(value: 5, stamp: .day(10))]
        #expect(news(known, [:], named) == ["revoked 1 of 1 to Alice"])
        #expect(news(known, named, named) == [])
        #expect(news(known, named, [name: SignedStatus(value: 1, stamp: .day(14))]) == ["reversed 1 of 1 to Alice"])
        #expect(news(Self.transaction([period], then: [revoked]), named, named) == [])
        #expect(news(Self.transaction([period], then: [revoked]), [:], [:]) == ["revoked 1 of 1 to Alice"])
        // The status of another holder is not the buyer's.
        #expect(news(known, [:], ["family": SignedStatus(value: 5, stamp: .day(10))]) == [])
    }

    // MARK: Facts

    @Test("33.1 An extension, an upgrade, a registration and contradictions are told of what was known")
    func facts() {
        let first = Self.period("1", on: 0)
        let longer = Self.period("1", on: 0, stamp: 5, until: 40)
        var flagged = Self.period("1", on: 0, stamp: 5)
        flagged.isUpgraded = true
        #expect(Self.short(Self.news([Self.transaction([first], then: [longer])])) == ["extended of 1 to Alice"])
        #expect(Self.short(Self.news([Self.transaction([first], then: [flagged])])) == ["upgraded of 1 to Alice"])
        #expect(Self.news([Self.transaction([first, flagged])]) == [])
        #expect(
            Self.short(Self.news([Self.transaction([first], isRegistered: (false, true))]))
                == ["registered of 1 to Alice"])
        #expect(Self.news([Self.transaction([first], isRegistered: (true, false))]) == [])
        // A new transaction has only its grant.
        #expect(Self.short(Self.news([Self.bought(flagged)])) == ["granted 1 of 1 to Alice"])
        var contradicted = Self.transaction([first])
        contradicted.contradictions = [.productID, .quantity]
        #expect(Self.news([contradicted]).map(\.type) == [.contradicted, .contradicted])
        #expect(Self.news([contradicted]).map(\.reason) == ["product_id", "quantity"])
    }

    // MARK: Renewals

    private static func renewal(_ stamp: Double, autoRenew: Int64) -> ObservedRenewal {
        ObservedRenewal(.signed("1", stamp: stamp, grace: 33, autoRenew: autoRenew))
    }

    @Test("33.1 A change of the renewal is told to the owner of the buyer's last period")
    func renewalChanged() {
        let periods = [
            Self.transaction([Self.period("2", on: 30)]),
            Self.transaction([Self.period("1", on: 0)], from: Self.bob, to: Self.bob),
        ]
        let news = Self.news(periods) {
            ($0.formerRenewal, $0.renewal) = (Self.renewal(1, autoRenew: 1), Self.renewal(2, autoRenew: 0))
        }
        #expect(Self.short(news) == ["renewal_changed of 2 to Alice"])
        #expect(news.map(\.until) == [.day(33)] && news.first?.renewal?.changed == [.autoRenew])
        let same = Self.news(periods) {
            ($0.formerRenewal, $0.renewal) = (Self.renewal(1, autoRenew: 1), Self.renewal(2, autoRenew: 1))
        }
        #expect(same == [])
        // An erased period has no facts, and a share of a family renews for nobody.
        let shared = TransactionStatement.signed(
            "3", "monthly", .autoRenewable, on: 60, original: "1", until: 90, isShared: true)
        let withShare = Self.news(periods + [Self.transaction([shared], from: Self.bob, to: Self.bob)]) {
            ($0.formerRenewal, $0.renewal) = (Self.renewal(1, autoRenew: 1), Self.renewal(2, autoRenew: 0))
        }
        #expect(Self.short(withShare) == ["renewal_changed of 2 to Alice"])
    }

    @Test("33.1 Renewal info that was signed before any period was known is told with the first one")
    func renewalBefore() {
        let renewal = Self.renewal(1, autoRenew: 0)
        #expect(
            Self.short(
                Self.news([Self.bought(Self.period("1", on: 0))]) {
                    ($0.formerRenewal, $0.renewal) = (renewal, renewal)
                })
                == ["granted 1 of 1 to Alice", "renewal_changed of 1 to Alice"])
        #expect(
            Self.news([Self.transaction([Self.period("1", on: 0)])]) {
                ($0.formerRenewal, $0.renewal) = (renewal, renewal)
            }
                == [])
    }

    // MARK: Seats

    @Test("33.1 Added seats are granted, and refunded ones are told")
    func seats() {
        let first = Self.period("1", on: 0, seats: SeatFacts(quantity: 5))
        var addition = Self.period("2", on: 10, until: 30, seats: SeatFacts(quantity: 2))
        addition.lineItemID = first.lineItemID
        let added = [Self.transaction([first]), Self.bought(addition)]
        #expect(Self.short(Self.news(added)) == ["granted 2 of 2 to Alice"])
        let renewal = Self.period("3", on: 30, seats: SeatFacts(quantity: 5))
        #expect(
            Self.short(Self.news([Self.transaction([first]), Self.bought(renewal)])) == ["renewed 5 of 3 to Alice"])
        let refund = Self.period("1", on: 0, stamp: 5, seats: SeatFacts(quantity: 5, revoked: 3))
        let refunded = [Self.transaction([first], then: [refund])]
        #expect(Self.short(Self.news(refunded)) == ["revoked 3 of 1 to Alice"])
    }
}
