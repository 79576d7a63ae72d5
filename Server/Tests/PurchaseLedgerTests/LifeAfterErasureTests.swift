import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// What an erasure leaves to others, and to the erased person who goes on paying.
@Suite("Life after an erasure", .ledger)
struct LifeAfterErasureTests {
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("C.12 Erasing one customer gives another no spent coins back, though both have transactions of one original")
    func sharedOriginal() async throws {
        let token = UUID()
        try await world.assign(token, to: "bob")
        let bobs = try LedgerWorld.signed("1") {
            $0.quantity = 3
            $0.appAccountToken = token.uuidString.lowercased()
        }
        _ = try await world.claim("1", customer: "bob", bobs)
        _ = try await world.consume(2, "sword", of: "bob")
        let copy = try LedgerWorld.signed("2") {
            $0.originalTransactionID = "1"
            $0.quantity = 3
            $0.purchaseDate = MintedWorld.moment.addingTimeInterval(1800)
            $0.signedDate = $0.purchaseDate
        }
        _ = try await world.claim("2", customer: "alice", copy)
        let before = try await world.entitlement(of: "bob")
        try await world.erase("alice")
        #expect(try await world.entitlement(of: "bob")?.balance == 1)
        #expect(before?.balance == 1 || before?.balance == 0)
        try await world.requireConsistency()
        try await world.erase("bob")
        try await world.requireConsistency()
    }

    @Test(
        "A.5 A token assigned after an erasure gives its customer what the erased one had claimed, and them nothing",
        .ledger({ $0.transfer = .move }))
    func laterToken() async throws {
        let token = UUID()
        let first = try LedgerWorld.period("901", from: 0) { $0.appAccountToken = token.uuidString.lowercased() }
        let second = try LedgerWorld.period("902", from: 30)
        _ = try await world.claim("902", product: LedgerWorld.monthly, customer: "alice", second)
        _ = try await world.claim("901", product: LedgerWorld.monthly, customer: "carol", first)
        try await world.erase("alice")
        // Alice's claim would have moved the second period away from the owner of the token.
        try await world.assign(token, to: "bob")
        try await world.requireConsistency()
        world.clock.advance(days: 35)
        #expect(try await world.entitlement(LedgerWorld.monthly, of: "bob")?.transactionID == "902")
        try await world.rebuilt()
    }

    @Test("C.12 A later erasure writes nothing for a customer who was erased before")
    func twoErasures() async throws {
        let tokens = ["alice": UUID(), "bob": UUID(), "carol": UUID()]
        for (customer, token) in tokens.sorted(by: { $0.key < $1.key }) {
            try await world.assign(token, to: customer)
        }
        for (number, customer) in ["alice", "bob", "carol"].enumerated() {
            let period = try LedgerWorld.period("\(901 + number)", from: Double(number) * 30) {
                $0.appAccountToken = tokens[customer]?.uuidString.lowercased()
            }
            _ = try await world.claim("\(901 + number)", product: LedgerWorld.monthly, customer: customer, period)
            let coin = try LedgerWorld.signed("\(1 + number)") {
                $0.originalTransactionID = "1"
                $0.appAccountToken = tokens[customer]?.uuidString.lowercased()
            }
            _ = try await world.claim("\(1 + number)", customer: customer, coin)
            _ = try await world.claim("\(1 + number)", customer: "alice", coin)
        }
        for customer in ["alice", "bob", "carol"] {
            try await world.erase(customer)
            try await world.requireConsistency()
        }
    }

    @Test(
        "C.12 What an erased customer buys later is held and can be claimed, and earlier purchases are purchase_erased",
        arguments: [TransferPolicy.deny, .move])
    func paysOn(policy: TransferPolicy) async throws {
        try await LedgerWorld.with({ $0.transfer = policy }) { world in
            let first = try LedgerWorld.period("901", from: 0)
            _ = try await world.claim("901", product: LedgerWorld.monthly, customer: "alice", first)
            world.clock.advance(days: 10)
            try await world.erase("alice")
            world.clock.advance(days: 21)
            let renewal = try LedgerWorld.period("902", from: 30)
            try await world.observe(renewal)
            try await world.observe(try LedgerWorld.period("903", from: 60))
            try await world.requireConsistency()
            let old = try await world.claim("901", product: LedgerWorld.monthly, customer: "anna", first)
            #expect(old.code == "purchase_erased" && old.disposition == .refused && old.claimedBy == nil)
            let new = try await world.claim("902", product: LedgerWorld.monthly, customer: "anna", renewal)
            #expect(new.code == "accepted" && new.disposition == .granted)
            #expect(try await world.entitlement(LedgerWorld.monthly, of: "anna")?.state == .active)
            let again = try await world.claim("901", product: LedgerWorld.monthly, customer: "anna", first)
            #expect(again.code == "purchase_erased")
            let other = try await world.claim("902", product: LedgerWorld.monthly, customer: "mallory", renewal)
            #expect(other.code == (policy == .deny ? "already_claimed" : "accepted"))
            try await world.requireConsistency()
            // A second erasure, and a token instead of a claim.
            try await world.erase("anna")
            world.clock.advance(days: 70)
            let token = UUID()
            try await world.assign(token, to: "ann")
            try await world.observe(
                try LedgerWorld.period("904", from: 110) { $0.appAccountToken = token.uuidString.lowercased() })
            world.clock.advance(days: 10)
            #expect(try await world.entitlement(LedgerWorld.monthly, of: "ann")?.state == .active)
        }
    }

    @Test("C.12 An erased customer's token may be assigned again")
    func token() async throws {
        let token = UUID()
        try await world.assign(token, to: "alice")
        let coin = try LedgerWorld.signed("1") { $0.appAccountToken = token.uuidString.lowercased() }
        _ = try await world.claim("1", customer: "alice", coin)
        try await world.erase("alice")
        world.clock.advance(days: 1)
        try await world.assign(token, to: "anna")
        let later = try LedgerWorld.signed("2") {
            $0.appAccountToken = token.uuidString.lowercased()
            $0.purchaseDate = MintedWorld.moment.addingTimeInterval(90_000)
            ($0.originalPurchaseDate, $0.signedDate) = ($0.purchaseDate, $0.purchaseDate)
        }
        #expect(try await world.claim("2", customer: "anna", later).code == "accepted")
        #expect(try await world.entitlement(of: "anna")?.balance == 1)
        #expect(try await world.claim("1", customer: "anna", coin).code == "purchase_erased")
    }

    @Test(
        "An order that was named by a claim and is open again, because its purchase was transferred, stays open after the erasure of the new owner",
        arguments: [false, true])
    func orderOfTransferred(isMove: Bool) async throws {
        try await LedgerWorld.with({ $0.transfer = .move }) { world in
            let order = try await world.order(product: LedgerWorld.pro)
            let evidence = try LedgerWorld.signed("1", product: LedgerWorld.pro)
            let paid = try await world.claim("1", product: LedgerWorld.pro, order: order.id, evidence)
            #expect(paid.orderStatus == .paid)
            if isMove {
                try await world.move("1", to: "bob")
            } else {
                _ = try await world.claim("1", product: LedgerWorld.pro, customer: "bob", evidence)
            }
            #expect(try await world.order(order.id).status == .created)
            try await world.erase("bob")
            #expect(try await world.order(order.id).status == .created)
            try await world.requireConsistency()
            // Another purchase pays it.
            let second = try LedgerWorld.signed("2", product: LedgerWorld.pro)
            #expect(try await world.claim("2", order: order.id, second).orderStatus == .paid)
        }
    }

    @Test("An order that no claim named is open again too, and a purchase that came while it was paid does not pay it")
    func unnamedOrderOfTransferred() async throws {
        let order = try await world.order(product: LedgerWorld.pro)
        for id in ["1", "2"] {
            let evidence = try LedgerWorld.signed(id, product: LedgerWorld.pro)
            #expect(try await world.claim(id, product: LedgerWorld.pro, evidence).code == "accepted")
            #expect(try await world.order(order.id).payment?.transactionID == "1")
        }
        try await world.move("1", to: "bob")
        #expect(try await world.order(order.id).status == .created)
        try await world.erase("bob")
        try await world.requireConsistency()
        #expect(try await world.order(order.id).status == .created)
    }

    /// Alice's purchase with a token is transferred to Bob, and Alice is erased. The same person buys again with the
    /// token, which the app still has.
    private func buyAgain(_ world: LedgerWorld) async throws -> (token: UUID, evidence: [UInt8]) {
        let token = UUID()
        let coin = { (id: String) in
            try LedgerWorld.signed(id) {
                let now = Date(timeIntervalSince1970: Double(world.clock.now.millisecondsSince1970) / 1000)
                ($0.purchaseDate, $0.originalPurchaseDate, $0.signedDate) = (now, now, now)
                $0.appAccountToken = token.uuidString.lowercased()
            }
        }
        try await world.assign(token, to: "alice")
        #expect(try await world.claim("1", customer: "alice", try coin("1")).code == "accepted")
        try await world.move("1", to: "bob")
        world.clock.advance(days: 1)
        try await world.erase("alice")
        world.clock.advance(days: 1)
        return (token, try coin("2"))
    }

    /// Bob has what was transferred to him and Anna what was bought after the erasure, also after a rebuild.
    private func requireBoth(_ world: LedgerWorld) async throws {
        func check(_ world: LedgerWorld) async throws {
            #expect(try await world.entitlement(of: "bob")?.balance == 1)
            #expect(try await world.entitlement(of: "anna")?.balance == 1)
        }
        try await check(world)
        if TestEngine.ownsTables { try await world.rebuilt(check) }
    }

    @Test("A.1 A purchase with the token of an erased customer can be claimed, though an earlier one was transferred")
    func claimAfterTransferAndErasure() async throws {
        let (_, evidence) = try await buyAgain(world)
        let outcome = try await world.claim("2", customer: "anna", evidence)
        #expect(outcome.code == "accepted" && outcome.disposition == .granted)
        try await requireBoth(world)
    }

    @Test("A.1 A notification of a purchase with the token of an erased customer is held, and can be claimed")
    func notificationAfterTransferAndErasure() async throws {
        let (_, evidence) = try await buyAgain(world)
        try await world.observe(evidence)
        let held = try await world.ledger.answer(HeldPurchases(app: "example", limit: 10))
        #expect(held.entries.map(\.transactionID) == ["2"])
        try await world.requireConsistency()
        #expect(try await world.claim("2", customer: "anna", evidence).code == "accepted")
        try await requireBoth(world)
    }

    @Test("A.1 The token of an erased customer is free, though it decided about a transferred purchase")
    func tokenAfterTransferAndErasure() async throws {
        let (token, evidence) = try await buyAgain(world)
        try await world.observe(evidence)
        #expect(try await world.assign(token, to: "anna"))
        let outcome = try await world.claim("2", customer: "anna", evidence)
        #expect(outcome.code == "accepted" && outcome.disposition == .granted)
        try await requireBoth(world)
    }

    @Test("A.3 A claim that was refused as somebody else's stays so, though the owner at the time was erased")
    func refusalBeforeErasure() async throws {
        let order = try await world.order("carol")
        let evidence = try LedgerWorld.signed("1")
        #expect(try await world.claim("1", customer: nil, order: order.id, evidence).orderStatus == .paid)
        #expect(try await world.claim("1", customer: "mallory", evidence).code == "already_claimed")
        try await world.move("1", to: "dave")
        try await world.erase("carol")
        try await world.requireConsistency()
        #expect(try await world.entitlement(of: "dave")?.balance == 1)
        guard TestEngine.ownsTables else { return }
        try await world.rebuilt { rebuilt in
            let entitlement = try await rebuilt.entitlement(of: "dave")
            #expect(entitlement?.balance == 1)
        }
    }

    @Test("A.5 An erased customer's token decided about a purchase until newer evidence stated another token")
    func tokenReplacedBeforeErasure() async throws {
        let token = try await world.order("carol").appAccountToken
        try await world.observe(try LedgerWorld.signed("1") { $0.appAccountToken = token.uuidString.lowercased() })
        let newer = try LedgerWorld.signed("1") {
            $0.appAccountToken = UUID().uuidString.lowercased()
            $0.signedDate = $0.signedDate?.addingTimeInterval(60)
        }
        #expect(try await world.claim("1", customer: "dave", newer).code == "accepted")
        try await world.erase("carol")
    }
}
