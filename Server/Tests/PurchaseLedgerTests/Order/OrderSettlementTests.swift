import PurchaseLedger
import PurchaseVerification
import Testing

/// The orders that follow from a change, without a database.
@Suite("Orders follow purchases")
struct OrderSettlementTests {
    private static let alice = PurchaseStory.alice
    private static let bob = PurchaseStory.bob
    private static let now = Timestamp.day(10)

    /// The stored orders, and the answers to what a decision needs.
    private struct StoredOrders {
        var payments: [String: OrderState] = [:]
        /// Open orders, in pages.
        var open: [[OrderBook.OpenOrder]] = []
        var claim: OrderSettlement.NamingClaim?
        /// The orders that earlier claims of transaction 1 named.
        var named: [OrderBook.OpenOrder] = []

        /// Decides, and answers each need once.
        func settle(_ transactions: [ChangedTransaction]) -> (book: OrderBook, needs: [OrderSettlement.Need]) {
            let settlement = OrderSettlement(ChangedHistory(transactions), claim: claim, at: OrderSettlementTests.now)
            var (book, asked, pages): (OrderBook, [OrderSettlement.Need], Int) = (OrderBook(), [], 0)
            while asked.count < 100 {
                switch settlement.decide(book) {
                case .decided(let book): return (book, asked)
                case .needs(let needs):
                    asked += needs
                    for need in needs {
                        switch need {
                        case .payment(of: let key): book.note(payments[key.transactionID.string], paidBy: key)
                        case .namedOrders(for: let key): book.note(named.map { (1, $0) }, namedFor: key)
                        case .openOrders(for: let key, at: _):
                            book.note(
                                open.indices.contains(pages) ? open[pages] : [], for: key,
                                isComplete: pages + 1 >= open.count)
                            pages += 1
                        }
                    }
                }
            }
            Issue.record("the decision never ends")
            return (book, asked)
        }

        /// The states of the orders that change, in short.
        func changes(_ transactions: ChangedTransaction...) -> [String] {
            settle(transactions).book.changes.map { order in
                let payer = order.paidBy.map { " by \($0.transactionID)" } ?? ""
                return "\(order.key) \(order.status.rawValue)\(payer)"
            }
        }
    }

    private static func coins(revoked: Double? = nil, stamp: Double? = nil) -> TransactionStatement {
        .signed("1", "coins", .consumable, on: 1, stamp: stamp, revoked: revoked)
    }

    /// A transaction of which some statements were known, and others arrive.
    private static func transaction(
        _ before: [TransactionStatement], then after: [TransactionStatement] = [],
        from former: CustomerNumber? = alice, to owner: CustomerNumber? = alice, by reason: String? = "claim",
        formerReason: String? = "claim"
    ) -> ChangedTransaction {
        func facts(_ statements: [TransactionStatement]) -> ObservedTransaction? {
            statements.reduce(nil) { facts, statement in
                facts?.merged(with: statement) ?? ObservedTransaction(statement)
            }
        }
        func state(
            _ facts: ObservedTransaction, _ owner: CustomerNumber?, _ reason: String?
        ) -> ChangedTransaction.State {
            ChangedTransaction.State(
                facts, owner: owner, terms: facts.kind.map { ProductTerms(kind: $0) },
                ownerReason: owner == nil ? nil : reason)
        }
        let known = facts(before)
        guard let current = after.isEmpty ? known : facts(before + after) else { fatalError("no statement") }
        return ChangedTransaction(
            from: known.map { state($0, former, formerReason) }, to: state(current, owner, reason))
    }

    private static func order(
        _ key: Int64, of customer: CustomerNumber = alice, _ status: OrderStatus = .created, by payer: String? = nil,
        fulfilled: Int64 = 0, wasFulfilled: Bool = false
    ) -> OrderState {
        OrderState(
            key: key, customer: customer, status: status, paidBy: payer.map { .sample($0) },
            fulfilledUnits: fulfilled, wasFulfilled: wasFulfilled)
    }

    private static func open(_ key: Int64, quantity: Int64 = 1, from start: Double = 0) -> OrderBook.OpenOrder {
        OrderBook.OpenOrder(
            order(key),
            OrderTerms(
                "coins", quantity: quantity, environments: [.production], from: .day(start), to: .day(3),
                status: .created))
    }

    // MARK: Paying

    @Test("A purchase with its first owner pays the first open order that it matches")
    func pays() {
        var stored = StoredOrders()
        stored.open = [[Self.open(1, quantity: 2), Self.open(2, from: 2), Self.open(3), Self.open(4)]]
        #expect(stored.changes(Self.transaction([], then: [Self.coins()])) == ["3 paid by 1"])
    }

    @Test("An order is newly paid if the change pays it, and not if it only changes what was paid before")
    func newlyPaid() {
        var stored = StoredOrders()
        stored.open = [[Self.open(3)]]
        let paid = stored.settle([Self.transaction([], then: [Self.coins()])]).book
        #expect(paid.isNewlyPaid(by: .sample("1"))?.key == 3)
        stored.payments = ["1": Self.order(7, .paid, by: "1")]
        let refunded = stored.settle([Self.transaction([Self.coins()], then: [Self.coins(revoked: 5, stamp: 6)])]).book
        #expect(refunded.hasChanges && refunded.isNewlyPaid(by: .sample("1")) == nil)
    }

    @Test("A refunded order stays refunded while its purchase is withdrawn, whatever else is signed about it")
    func staysRefunded() {
        var stored = StoredOrders()
        stored.payments = ["1": Self.order(7, .refunded, by: "1")]
        let again = Self.transaction([Self.coins(revoked: 5, stamp: 6)], then: [Self.coins(revoked: 5, stamp: 9)])
        #expect(stored.changes(again).isEmpty)
    }

    @Test("Open orders are asked for page by page, until one matches")
    func pages() {
        var stored = StoredOrders()
        stored.open = [[Self.open(1, quantity: 2)], [Self.open(2, quantity: 2)], [Self.open(3)], [Self.open(4)]]
        let (book, needs) = stored.settle([Self.transaction([], then: [Self.coins()])])
        #expect(book.changes.map(\.key) == [3])
        let pages = Array(repeating: OrderSettlement.Need.openOrders(for: .sample("1"), at: .day(1)), count: 3)
        #expect(needs == [.payment(of: .sample("1"))] + pages)
    }

    @Test("Nothing is asked for, and nothing changes, if the owner stays, or nobody owns it")
    func nothing() {
        var stored = StoredOrders()
        stored.open = [[Self.open(1)]]
        let known = Self.transaction([Self.coins()], then: [Self.coins(stamp: 2)])
        let held = Self.transaction([], then: [Self.coins()], to: nil)
        for transaction in [known, held] {
            let (book, needs) = stored.settle([transaction])
            #expect(!book.hasChanges && needs.isEmpty)
        }
    }

    @Test("A purchase whose claim names an order, one that paid already, and a withdrawn one pay no open order")
    func exceptions() {
        var stored = StoredOrders()
        stored.open = [[Self.open(1)]]
        stored.claim = .init(.sample("1"), of: Self.alice)
        #expect(stored.changes(Self.transaction([], then: [Self.coins()])) == [])
        // The claim of somebody else keeps the purchase from nothing.
        stored.claim = .init(.sample("1"), of: Self.bob)
        #expect(stored.changes(Self.transaction([], then: [Self.coins()])) == ["1 paid by 1"])
        stored.claim = nil
        #expect(stored.changes(Self.transaction([], then: [Self.coins(revoked: 2, stamp: 2)])) == [])
        stored.payments["1"] = Self.order(7, .paid, by: "1")
        #expect(stored.changes(Self.transaction([Self.coins()], from: nil)) == [])
    }

    @Test("A purchase pays the order that its owner's claim named before, or none; then the one with its token")
    func chosen() {
        var stored = StoredOrders()
        let held = Self.transaction([Self.coins()], from: nil)
        stored.open = [[Self.open(1), Self.open(2)]]
        stored.named = [Self.open(2)]
        #expect(stored.changes(held) == ["2 paid by 1"])
        // It named an order that does not fit.
        stored.named = [Self.open(3, quantity: 2)]
        #expect(stored.changes(held) == [])
        // No further open orders are read for it.
        #expect(stored.settle([held]).needs.count { $0 == .openOrders(for: .sample("1"), at: .day(1)) } == 1)
        // It was not the owner's.
        stored.named = [OrderBook.OpenOrder(Self.order(3, of: Self.bob), Self.open(3).terms)]
        #expect(stored.changes(held) == ["1 paid by 1"])
        stored.named = []
        let token = AppAccountToken(high: 1, low: 2)
        var terms = Self.open(2).terms
        terms.token = token
        stored.open = [[Self.open(1), OrderBook.OpenOrder(Self.order(2), terms)]]
        var coins = Self.coins()
        coins.accountToken = token
        #expect(stored.changes(Self.transaction([], then: [coins])) == ["2 paid by 1"])
        #expect(stored.changes(held) == ["1 paid by 1"])
    }

    @Test("Two purchases of one change do not pay the same order")
    func two() {
        var stored = StoredOrders()
        let periods = ["1", "2"].map { id in
            Self.transaction([], then: [.signed(id, "coins", .autoRenewable, on: 1, original: "1", until: 31)])
        }
        stored.open = [[Self.open(1)], [Self.open(1)]]
        #expect(stored.settle(periods).book.changes.map(\.key) == [1])
    }

    // MARK: Following

    @Test("A refund of the whole purchase refunds its order, and its reversal restores the state before")
    func refund() {
        var stored = StoredOrders()
        stored.payments["1"] = Self.order(1, .paid, by: "1")
        let refunded = Self.transaction([Self.coins()], then: [Self.coins(revoked: 5, stamp: 5)])
        #expect(stored.changes(refunded) == ["1 refunded by 1"])
        stored.payments["1"] = Self.order(1, .fulfilled, by: "1", fulfilled: 1, wasFulfilled: true)
        #expect(stored.changes(refunded) == ["1 refunded by 1"])
        let reversed = Self.transaction([Self.coins(), Self.coins(revoked: 5, stamp: 5)], then: [Self.coins(stamp: 6)])
        stored.payments["1"] = Self.order(1, .refunded, by: "1", fulfilled: 1, wasFulfilled: true)
        #expect(stored.changes(reversed) == ["1 fulfilled by 1"])
        stored.payments["1"] = Self.order(1, .refunded, by: "1")
        #expect(stored.changes(reversed) == ["1 paid by 1"])
        stored.payments["1"] = Self.order(1, .closed, by: "1")
        #expect(stored.changes(refunded) == [] && stored.changes(reversed) == [])
    }

    @Test("A transfer by a token opens the order of the former owner again, unless units of it were delivered")
    func transfer() {
        var stored = StoredOrders()
        stored.open = [[Self.open(2)]]
        let transferred = Self.transaction(
            [Self.coins()], then: [Self.coins(stamp: 2)], to: Self.bob, by: "account_token")
        stored.payments["1"] = Self.order(1, .paid, by: "1")
        #expect(stored.changes(transferred) == ["1 created", "2 paid by 1"])
        stored.payments["1"] = Self.order(1, .paid, by: "1", fulfilled: 1)
        #expect(stored.changes(transferred) == [])
        // The customer of the order was merged into the new owner.
        stored.payments["1"] = Self.order(1, of: Self.bob, .paid, by: "1")
        #expect(stored.changes(transferred) == [])
        // Claims and operators transfer what somebody else paid for.
        stored.payments = ["1": Self.order(1, .paid, by: "1")]
        let moved = Self.transaction([Self.coins()], to: Self.bob, by: "operator_move")
        #expect(stored.changes(moved) == ["1 created"])
    }

    @Test(
        "A purchase that was refunded when it arrived pays an open order once the refund is reversed",
        arguments: [
            ("claim", true), ("account_token", true), ("inherited_token", true), ("transfer", false),
            ("operator_move", false), ("merge", false),
        ])
    func reversal(reason: String, pays: Bool) {
        var stored = StoredOrders()
        stored.open = [[Self.open(2)]]
        let reversed = Self.transaction(
            [Self.coins(revoked: 2, stamp: 2)], then: [Self.coins(stamp: 3)], by: reason, formerReason: reason)
        #expect(stored.changes(reversed) == (pays ? ["2 paid by 1"] : []))
        // Its own order is restored, and no other is paid.
        stored.payments["1"] = Self.order(1, .refunded, by: "1")
        #expect(stored.changes(reversed) == ["1 paid by 1"])
    }
}
