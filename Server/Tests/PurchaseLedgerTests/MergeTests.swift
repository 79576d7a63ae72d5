import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("A merge", .tags(.everyEngine))
struct MergeTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    @Test("Every read of both names answers alike after a merge, and one event tells of it")
    func answers() async throws {
        try await MergingWorld.with { merging in
            let world = merging.world
            let events = try await world.events()
            #expect(events.count { $0 == "customer_merged" } == 1)
            #expect(events.last { $0 != "order_paid" } == "customer_merged")
            for product in MergingWorld.app.products.keys.sorted() {
                let own = try await world.entitlement(product, of: "device")
                #expect(try await own == world.entitlement(product, of: "alice"), "\(product)")
            }
        }
    }

    @Test("What both had before a merge and what it gives are one: the same history by one customer gives the same")
    func renamedAsOne() async throws {
        func balances(_ device: String) async throws -> [Int64?] {
            var found: [Int64?] = []
            try await LedgerWorld.with { world in
                for (index, customer) in [device, "alice", device, "alice"].enumerated() {
                    let coins = try MergingWorld.coins("\(index + 1)", 5, day: Double(index))
                    _ = try await world.claim("\(index + 1)", customer: customer, coins)
                    let pass = try MergingWorld.pass("3\(index)", day: Double(index))
                    _ = try await world.claim("3\(index)", product: LedgerWorld.pass, customer: customer, pass)
                }
                world.clock.advance(days: 10)
                _ = try await world.consume(3, "a", of: device)
                _ = try await world.consume(6, "b", of: "alice")
                if device != "alice" {
                    try await world.merge(device, into: "alice")
                }
                for customer in [device, "alice"] {
                    found.append(try await world.entitlement(of: customer)?.balance)
                    found.append(
                        try await world.entitlement(LedgerWorld.pass, of: customer)?.until?.millisecondsSince1970)
                }
            }
            return found
        }
        #expect(try await balances("device") == balances("alice"))
    }

    @Test(
        "A merge of more purchases than the limit is refused with the command for it, and holdsWrites allows it",
        .ledger)
    func tooLarge() async throws {
        for number in 1...3 {
            _ = try await world.claim("\(number)", customer: "device", try LedgerWorld.signed("\(number)"))
        }
        var ledger = world.ledger
        ledger.mergeOriginals = 2
        let merge = MergeCustomers(app: "example", customerID: "device", into: "alice")
        let error = await #expect(throws: LedgerRefusal.self) { try await ledger.perform(merge) }
        #expect(error?.code == .mergeTooLarge && error?.found == "3")
        #expect(error?.line.contains("assay customers merge --hold-writes") == true)
        #expect(try await world.entitlement(of: "alice") == nil)
        ledger.mergeOriginals = 3
        try await ledger.perform(merge)
        #expect(try await world.entitlement(of: "alice")?.balance == 3)
        ledger.mergeOriginals = 0
        try await ledger.perform(MergeCustomers(app: "example", customerID: "alice", into: "carol", holdsWrites: true))
        // A login that came late does not merge the account of whoever logged in before it.
        var late = MergeCustomers(app: "example", customerID: "alice", into: "somebody else")
        late.isFirst = true
        await #expect { try await ledger.perform(late) } throws: {
            ($0 as? LedgerRefusal)?.code == .customerMergeCircular
        }
        #expect(try await world.entitlement(of: "device")?.balance == 3)
    }

    /// What happens after a merge.
    enum Act: CaseIterable {
        case claim, claimOfAnother, refund, newPurchase, newPeriod, restore, consumption, repeatedConsumption,
            fulfilment
        case newPass, token, order
        case seat, unclaim, ground, groundEnd, status, comparison
    }

    @Test(
        "Claims, refunds, consumption and deliveries under both names after a merge leave the tables as a rebuild",
        arguments: [Act.allCases, Act.allCases.reversed()])
    func acts(_ acts: [Act]) async throws {
        try await MergingWorld.with { merging in
            for act in acts { _ = try await Self.perform(act, merging) }
        }
    }

    private static func perform(_ act: Act, _ merging: MergingWorld) async throws -> String {
        let (world, ledger) = (merging.world, merging.world.ledger)
        func text(_ outcome: PurchaseOutcome) -> String {
            "\(outcome.code) \(outcome.isReplayed) \(outcome.entitlement as Any)"
        }
        switch act {
        case .claim:
            return text(try await world.claim("1", customer: "alice", try MergingWorld.coins("1", 5)))
        case .claimOfAnother:
            return text(
                try await world.claim(
                    "21", customer: "mallory",
                    try LedgerWorld.signed("21", product: LedgerWorld.pro)))
        case .refund:
            for (id, quantity, day) in [("1", Int64(5), 0.0), ("3", 4, 1)] {
                try await world.observe(
                    try MergingWorld.coins(id, quantity, day: day) {
                        $0.refund(at: $0.purchaseDate?.addingTimeInterval(7200))
                    })
            }
            return ""
        case .newPurchase:
            let outcome = try await world.claim("50", customer: "device", try MergingWorld.coins("50", 8, day: 2.01))
            return text(outcome)
        case .newPeriod:
            return text(try await world.claim("903", customer: "alice", try LedgerWorld.period("903", from: 60)))
        case .restore:
            let outcome = try await ledger.restore(
                RestoreSubmission(
                    app: "example", customerID: "device",
                    evidence: [
                        try MergingWorld.coins("1", 5), try MergingWorld.coins("2", 2, day: 0.5),
                        try MergingWorld.pass("30", day: 0), try MergingWorld.coins("51", 1, day: 2),
                    ]))
            return outcome.purchases.map { "\($0.transactionID) \($0.code) \($0.disposition)" }.joined(separator: "\n")
        case .consumption:
            let outcomes = [
                try await world.consume(1, "a", of: "device"), try await world.consume(5, "b", of: "alice"),
            ]
            return outcomes.map { "\($0.balance) \($0.shortfall) \($0.mergedInto ?? "")" }.joined(separator: "\n")
        case .repeatedConsumption:
            let error = await #expect(throws: LedgerRefusal.self) { try await world.consume(7, "first", of: "device") }
            return "\(error?.code as Any) \(try await world.consume(3, "first", of: "device").replayed)"
        case .fulfilment:
            let outcome = try await ledger.perform(FulfilOrder(app: "example", orderID: merging.orders[0], units: 3))
            return "\(outcome.units as Any) \(outcome.order.fulfilledUnits)"
        case .newPass:
            return text(try await world.claim("33", customer: "device", try MergingWorld.pass("33", day: 2.5)))
        case .token:
            let isNew = try await ledger.perform(AssignToken(app: "example", customerID: "device", token: UUID()))
            return "\(isNew)"
        case .seat:
            // Two requests of one customer; the third one has a seat under the former name.
            var outcomes: [ClaimSeat.Outcome] = []
            for original in ["960", "970", "980"] {
                outcomes.append(try await MergingWorld.claimSeat(of: original, for: "device", world))
            }
            return outcomes.map { "\($0)" }.joined(separator: "\n")
        case .unclaim:
            let seats = try await ledger.answer(
                SeatsOfSubscription(app: "example", originalTransactionID: "980", limit: 10))
            for seat in seats.claimed {
                try await ledger.perform(UnclaimSeat(app: "example", originalTransactionID: "980", seatID: seat.seatID))
            }
            return "\(seats.claimed)"
        case .ground:
            let end = Timestamp(MintedWorld.moment.addingTimeInterval(86_400 * 90))
            let outcome = try await ledger.perform(
                AddGround(
                    app: "example", customerID: "alice", source: "stripe", reference: "of device",
                    productID: LedgerWorld.yearly, until: end))
            return "\(outcome)"
        case .groundEnd:
            let grounds = try await ledger.answer(GroundsOfCustomer(app: "example", customerID: "device")).grounds
            for ground in grounds where ground.source == "google_play" {
                try await ledger.perform(
                    EndGround(app: "example", customerID: "device", id: try UUID(answered: ground.groundID)))
            }
            return "\(grounds.count)"
        case .status:
            for (original, status) in [("930", Int64(1)), ("960", 5), ("970", 5)] {
                try await world.observe(try MergingWorld.status(status, of: original, day: 1.5))
            }
            return ""
        case .comparison:
            let theirs = ForeignAnswer(customerID: "device", .product(LedgerWorld.monthly), isActive: false)
            return "\(try await ledger.answer(CompareAnswers(app: "example", [theirs])))"
        case .order:
            let order = try await world.order("device", quantity: 1)
            _ = try await ledger.perform(CancelOrder(app: "example", orderID: merging.orders[1]))
            return "\(order.customerID) \(try await world.order(merging.orders[1]).status)"
        }
    }

    @Test("After a merge, an erasure, a transfer, a revocation and further merges leave the tables as a rebuild")
    func actsOfOperators() async throws {
        for act in 0..<5 {
            try await MergingWorld.with { merging in
                let ledger = merging.world.ledger
                switch act {
                case 0:
                    _ = try await ledger.perform(EraseCustomer(app: "example", customerID: "device", reason: "test"))
                case 1: try await ledger.perform(MergeCustomers(app: "example", customerID: "alice", into: "carol"))
                case 2: try await ledger.perform(MergeCustomers(app: "example", customerID: "bob", into: "device"))
                case 3:
                    let former = try await ledger.perform(
                        MovePurchase(app: "example", transactionID: "1", to: "bob", reason: "test"))
                    #expect(former == "alice")
                default:
                    _ = try await ledger.perform(
                        RevokeByHand(
                            app: "example", customerID: "alice", .purchase(transactionID: "21", environment: nil),
                            reason: "test"))
                }
            }
        }
    }
}
