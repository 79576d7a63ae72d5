import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The withdrawal of a purchase that has several transaction ids.
@Suite("Copies are withdrawn together")
struct CopyWithdrawalTests {
    private let alice = PurchaseStory.alice

    /// Every order of the elements.
    static func orders<Element>(_ elements: [Element]) -> [[Element]] {
        guard elements.count > 1 else { return [elements] }
        return elements.indices.flatMap { place in
            var rest = elements
            let first = rest.remove(at: place)
            return orders(rest).map { [first] + $0 }
        }
    }

    private func story(_ statements: [TransactionStatement]) -> PurchaseStory {
        var story = PurchaseStory()
        for id in Set(statements.map(\.key.transactionID)).sorted() { story.claim(id.string, alice) }
        story.statements = statements
        return story
    }

    @Test("C.2 Refund seen on a copy, reversal on the original: active again, in every order of arrival")
    func reversal() {
        let kinds: [(ExactText, ProductKind, Double?)] = [
            ("pro", .nonConsumable, nil), ("pass", .nonRenewing, nil), ("monthly", .autoRenewable, 30),
        ]
        for (product, kind, end) in kinds {
            func signed(_ id: String, stamp: Double, revoked: Double? = nil) -> TransactionStatement {
                var statement = TransactionStatement.signed(
                    id, product, kind, on: id == "1" ? 1 : 3, original: "1", until: end, stamp: stamp, revoked: revoked)
                statement.originalPurchaseDate = .day(1)
                statement.lineItemID = kind == .autoRenewable ? "77" : nil
                return statement
            }
            let refund = [signed("1", stamp: 1), signed("2", stamp: 3), signed("2", stamp: 5, revoked: 5)]
            for statements in Self.orders(refund) {
                #expect(!story(statements).isActive(alice, product, day: 6))
                #expect(story(statements).isActive(alice, product, day: 4))
            }
            for statements in Self.orders(refund + [signed("1", stamp: 6)]) {
                #expect(story(statements).isActive(alice, product, day: 7))
            }
            for statements in Self.orders(refund + [signed("1", stamp: 6), signed("1", stamp: 8, revoked: 8)]) {
                #expect(!story(statements).isActive(alice, product, day: 9))
            }
        }
    }

    @Test("C.2 A pass that was refunded, reversed and then restored is one pass, in every order of arrival")
    func restoredPass() {
        func signed(_ id: String, on day: Double, stamp: Double, revoked: Double? = nil) -> TransactionStatement {
            var statement = TransactionStatement.signed(
                id, "pass", .nonRenewing, on: day, original: "1", stamp: stamp, revoked: revoked)
            statement.originalPurchaseDate = .day(1)
            return statement
        }
        let statements = [
            signed("1", on: 1, stamp: 1), signed("1", on: 1, stamp: 5, revoked: 5), signed("1", on: 1, stamp: 6),
            signed("2", on: 8, stamp: 8),
        ]
        for statements in Self.orders(statements) {
            let story = story(statements)
            #expect(story.purchases.count == 1)
            #expect(story.isActive(alice, "pass", day: 9))
        }
        for statements in Self.orders(statements + [signed("2", on: 8, stamp: 10, revoked: 10)]) {
            #expect(!story(statements).isActive(alice, "pass", day: 11))
        }
    }

    @Test("C.2 A cancellation counts only if it is later than the newest signed statement of any copy")
    func cancellation() {
        let cancelled = TransactionStatement.receipt("1", "pro", .nonConsumable, on: 1, original: "1", cancelled: 5)
        for (stamp, isActive) in [(6.0, true), (4.0, false)] {
            let copy = TransactionStatement.signed("2", "pro", .nonConsumable, on: 2, original: "1", stamp: stamp)
            for statements in Self.orders([cancelled, copy]) {
                #expect(story(statements).isActive(alice, "pro", day: 10) == isActive)
            }
        }
    }

    @Test("C.2 What is bought after the withdrawal is a new purchase, also after a reversal")
    func boughtAgain() throws {
        let first = TransactionStatement.signed("1", "pro", .nonConsumable, on: 1, original: "1")
        let refunded = TransactionStatement.signed(
            "1", "pro", .nonConsumable, on: 1, original: "1", stamp: 5, revoked: 5)
        var again = TransactionStatement.signed("2", "pro", .nonConsumable, on: 8, original: "1")
        again.originalPurchaseDate = .day(1)
        for statements in Self.orders([first, refunded, again]) {
            let story = story(statements)
            #expect([2, 6, 9].map { story.isActive(alice, "pro", day: $0) } == [true, false, true])
            #expect(story.purchases.count == 2)
        }
        var refundedAgain = again
        (refundedAgain.stamp, refundedAgain.revocation) = (.day(12), Revocation(date: .day(12)))
        for statements in Self.orders([first, refunded, again, refundedAgain]) {
            let story = story(statements)
            #expect([2, 6, 9, 13].map { story.isActive(alice, "pro", day: $0) } == [true, false, true, false])
        }
        let reversed = TransactionStatement.signed("1", "pro", .nonConsumable, on: 1, original: "1", stamp: 14)
        for statements in Self.orders([first, refunded, again, refundedAgain, reversed]) {
            let story = story(statements)
            #expect(story.purchases.count == 2)
            #expect(story.isActive(alice, "pro", day: 15))
        }
        // The date survives the stored form, and facts without a reversal have the same bytes as before.
        let facts = try #require(story([first, refunded, reversed]).facts[.sample("1")])
        let read = try ObservedTransaction(key: facts.key, encoded: facts.encoded)
        #expect(read == facts && read.lastWithdrawal == .day(5) && read.withdrawal == nil)
    }

    @Test("C.2 A share that was revoked and shared again is active")
    func family() {
        func shared(_ id: String, stamp: Double, revoked: Double? = nil) -> TransactionStatement {
            var statement = TransactionStatement.signed(
                id, "pro", .nonConsumable, on: 1, original: "1", stamp: stamp, revoked: revoked, isShared: true)
            statement.revocation?.type = "FAMILY_REVOKE"
            return statement
        }
        for statements in Self.orders([shared("1", stamp: 9, revoked: 5), shared("2", stamp: 7)]) {
            #expect(story(statements).isActive(alice, "pro", day: 10))
        }
        for statements in Self.orders([shared("1", stamp: 9, revoked: 8), shared("2", stamp: 7)]) {
            #expect(!story(statements).isActive(alice, "pro", day: 10))
        }
    }

    @Test("C.3 Two periods with the same end, one refunded: active; both refunded: withdrawn")
    func equalEnds() {
        func period(_ id: String, on day: Double, revoked: Double? = nil) -> TransactionStatement {
            .signed(
                id, "monthly", .autoRenewable, on: day, original: "1", until: 30, stamp: revoked ?? day,
                revoked: revoked)
        }
        var copy = TransactionStatement.receipt("3", "monthly", .autoRenewable, on: 9, original: "1", until: 30)
        copy.lineItemID = nil
        for starts in [(0.0, 0.0), (0, 10), (10, 0)] {
            let (a, b) = (period("1", on: starts.0), period("2", on: starts.1))
            let refundOfB = period("2", on: starts.1, revoked: 12)
            for statements in Self.orders([a, b, refundOfB]) {
                let story = story(statements)
                #expect(story.purchases.count == 2)
                #expect(story.isActive(alice, "monthly", day: 20))
            }
            for statements in Self.orders([a, b, refundOfB, period("1", on: starts.0, revoked: 14)]) {
                #expect(!story(statements).isActive(alice, "monthly", day: 20))
            }
            // A copy without a line item joins the nearest period, and never both.
            for statements in Self.orders([a, b, copy]) { #expect(story(statements).purchases.count == 2) }
        }
        let near = story([period("1", on: 0), period("2", on: 10), copy]).purchases
        #expect(near.first { $0.transactions.count == 2 }?.transactions.contains { $0.key == .sample("2") } == true)
    }

    @Test(
        "C.3 Access names the period that is valid, and the reason after it is that of the one that would have ended last"
    )
    func validPeriod() {
        func period(_ id: String, on day: Double, until end: Double, revoked: Double? = nil) -> TransactionStatement {
            .signed(
                id, "monthly", .autoRenewable, on: day, original: "1", until: end, stamp: revoked ?? day,
                revoked: revoked)
        }
        for end in [25.0, 30, 40] {
            let statements = [period("1", on: 0, until: 30), period("2", on: 10, until: end, revoked: 12)]
            for statements in Self.orders(statements) {
                let access = story(statements).access(alice, "monthly", day: 20)
                #expect(access?.isActive == true && access?.transaction == .sample("1") && access?.until == .day(30))
                // The refunded period decides only where it would have lasted longer.
                #expect(story(statements).denial(alice, "monthly", day: 35) == (end > 30 ? .revoked : .newsMissing))
            }
        }
    }

    @Test("C.2 A reversal on the original of a refund seen on a copy restores access and order, with one event each")
    func events() async throws {
        for (product, kind) in [
            (LedgerWorld.pass, SignedTransactionTemplate.ProductType.nonRenewingSubscription),
            (LedgerWorld.monthly, .autoRenewableSubscription),
        ] {
            try await LedgerWorld.with { world in
                func signed(_ id: String, at seconds: Double, isRevoked: Bool = false) throws -> [UInt8] {
                    try LedgerWorld.signed(id, product: product, kind: kind) {
                        $0.originalTransactionID = "1"
                        if kind == .autoRenewableSubscription {
                            $0.webOrderLineItemID = "77"
                            $0.expiresDate = $0.purchaseDate?.addingTimeInterval(30 * 86_400)
                        }
                        $0.signedDate = $0.purchaseDate?.addingTimeInterval(seconds)
                        if isRevoked { $0.revocationDate = $0.signedDate }
                    }
                }
                let order = try await world.order(product: product)
                _ = try await world.claim("1", product: product, order: order.id, try signed("1", at: 0))
                try await world.observe(try signed("2", at: 10))
                world.clock.advance(seconds: 60)
                try await world.observe(try signed("2", at: 20, isRevoked: true))
                #expect(try await world.entitlement(product)?.state == .withdrawn)
                #expect(try await world.order(order.id).status == .refunded)
                try await world.observe(try signed("1", at: 30, isRevoked: true))
                world.clock.advance(seconds: 60)
                try await world.observe(try signed("1", at: 40))
                #expect(try await world.entitlement(product)?.state == .active)
                #expect(try await world.order(order.id).status == .paid)
                let events = try await world.events()
                for type in ["revoked", "reversed", "order_refunded", "order_restored"] {
                    #expect(events.count { $0 == type } == 1, "\(events)")
                }
            }
        }
    }

    @Test("C.2 The lists of purchases show the withdrawal that decides claims, on every copy and at every step")
    func listedWithdrawal() async throws {
        try await LedgerWorld.with { world in
            func signed(_ id: String, at seconds: Double, isRevoked: Bool = false) throws -> [UInt8] {
                try LedgerWorld.signed(id, product: LedgerWorld.pro, kind: .nonConsumable) {
                    $0.originalTransactionID = "1"
                    $0.signedDate = $0.purchaseDate?.addingTimeInterval(seconds)
                    if isRevoked { $0.revocationDate = $0.signedDate }
                }
            }
            func requireAgreement(isWithdrawn: Bool, _ step: String) async throws {
                let page = try await world.ledger.answer(
                    PurchasesOfCustomer(app: "example", customerID: LedgerWorld.customer, limit: 10))
                #expect(page.entries.count == 2)
                for id in ["1", "2"] {
                    let listed = try #require(page.entries.first { $0.transactionID == id })
                    let shown = try await world.ledger.answer(
                        PurchasesOfTransaction(app: "example", transactionID: id))
                    #expect(shown.map(\.withdrawal) == [listed.withdrawal])
                    #expect((listed.withdrawal != nil) == isWithdrawn, "\(id) \(step)")
                    let claimed = try await world.claim(id, product: LedgerWorld.pro, try signed(id, at: 0))
                    #expect((claimed.code == "accepted") != isWithdrawn, "\(id) \(step): \(claimed.code)")
                }
            }
            _ = try await world.claim("1", product: LedgerWorld.pro, try signed("1", at: 0))
            _ = try await world.claim("2", product: LedgerWorld.pro, try signed("2", at: 10))
            world.clock.advance(seconds: 600)
            try await requireAgreement(isWithdrawn: false, "before")
            try await world.observe(try signed("2", at: 20, isRevoked: true))
            try await requireAgreement(isWithdrawn: true, "refund seen on the copy")
            try await world.observe(try signed("1", at: 30))
            try await requireAgreement(isWithdrawn: false, "reversal seen on the original")
            try await world.observe(try signed("1", at: 40, isRevoked: true))
            try await requireAgreement(isWithdrawn: true, "refund seen on the original")
            try await world.observe(try signed("2", at: 50))
            try await requireAgreement(isWithdrawn: false, "reversal seen on the copy")
        }
    }

    @Test("C.2 A non-consumable that is bought again after its refund pays an order")
    func repurchasePays() async throws {
        try await LedgerWorld.with { world in
            func pro(_ id: String, at seconds: Double, revoked: Double? = nil) throws -> [UInt8] {
                try LedgerWorld.signed(id, product: LedgerWorld.pro, kind: .nonConsumable) {
                    $0.originalTransactionID = "1"
                    $0.purchaseDate = $0.purchaseDate?.addingTimeInterval(seconds)
                    $0.revocationDate = revoked.map(MintedWorld.moment.addingTimeInterval(3600).addingTimeInterval)
                    $0.signedDate = $0.revocationDate ?? $0.purchaseDate
                }
            }
            _ = try await world.claim("1", product: LedgerWorld.pro, try pro("1", at: 0))
            try await world.observe(try pro("1", at: 0, revoked: 60))
            world.clock.advance(seconds: 600)
            let order = try await world.order(product: LedgerWorld.pro)
            let outcome = try await world.claim("2", product: LedgerWorld.pro, order: order.id, try pro("2", at: 700))
            #expect(outcome.code == "accepted" && outcome.orderStatus == .paid)
            world.clock.advance(seconds: 600)
            #expect(try await world.entitlement(LedgerWorld.pro)?.state == .active)
        }
    }
}
