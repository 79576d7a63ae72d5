import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("A merge in pieces", .tags(.everyEngine))
struct MergeInPiecesTests {
    @Test("Every read of both names answers at each stage of a merge as after it, and audits between them are clean")
    func stages() async throws {
        try await MergingWorld.with { merging in
            var stages = [try await merging.answers()]
            try await merging.world.requireConsistency()
            while try await merging.moveOriginal() {
                stages.append(try await merging.answers())
                // An audit of a stage takes as long as four stages.
                if stages.count % 4 == 0 { try await merging.world.requireConsistency() }
            }
            #expect(stages.count > 10)
            for (number, stage) in stages.enumerated() {
                #expect(stage.count == stages[stages.count - 1].count)
                for (found, expected) in zip(stage, stages[stages.count - 1]) where found != expected {
                    Issue.record("stage \(number): \(found) instead of \(expected)")
                }
            }
            let events = try await merging.world.events()
            #expect(events.count { $0 == "customer_merged" } == 1)
        }
    }

    /// What happens while a merge is in progress.
    enum Act: CaseIterable {
        case claim, claimOfAnother, refund, newPurchase, newPeriod, restore, consumption, repeatedConsumption,
            fulfilment
        case newPass, token, order
        case seat, unclaim, ground, groundEnd, status, comparison
    }

    @Test(
        "Claims, refunds, consumption and deliveries in the middle of a merge answer as after it",
        arguments: [Act.allCases, Act.allCases.reversed()])
    func acts(_ acts: [Act]) async throws {
        // The stages differ most at their ends; a write of one stage meets moved and unmoved rows at the others.
        var answers: [[String]] = []
        for stage in [Int.max, 0, 5] {
            try await MergingWorld.with { merging in
                var moved = 0
                while moved < stage, try await merging.moveOriginal() { moved += 1 }
                var answer: [String] = []
                for act in acts {
                    answer.append("\(act): \(try await Self.perform(act, merging))")
                }
                let outcomes = answer
                answer += try await merging.answers()
                try await merging.world.requireConsistency()
                _ = try await merging.world.ledger.finishMerges()
                answers.append(answer.map(Self.comparable))
                answers.append((outcomes + (try await merging.answers())).map(Self.comparable))
            }
        }
        for answer in answers {
            #expect(answer.count == answers[0].count)
            for (found, expected) in zip(answer, answers[0]) where found != expected {
                Issue.record("\(found) instead of \(expected)")
            }
        }
    }

    /// Without random ids.
    private static func comparable(_ text: String) -> String {
        text.replacing(/[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}/, with: "ID")
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
                    "21", product: LedgerWorld.pro, customer: "mallory",
                    try LedgerWorld.signed("21", product: LedgerWorld.pro, kind: .nonConsumable)))
        case .refund:
            for (id, quantity, day) in [("1", Int64(5), 0.0), ("3", 4, 1)] {
                try await world.observe(
                    try MergingWorld.coins(id, quantity, day: day) {
                        $0.revocationDate = $0.purchaseDate?.addingTimeInterval(7200)
                        $0.signedDate = $0.revocationDate
                    })
            }
            return ""
        case .newPurchase:
            let outcome = try await world.claim(
                "50", customer: "device", try MergingWorld.coins("50", 8, day: 2.01))
            return text(outcome)
        case .newPeriod:
            return text(
                try await world.claim(
                    "903", product: LedgerWorld.monthly, customer: "alice",
                    try LedgerWorld.period("903", from: 60)))
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
            return "\(error?.code as Any) \(try await world.consume(3, "first", of: "device").isReplayed)"
        case .fulfilment:
            let outcome = try await ledger.perform(
                FulfilOrder(app: "example", orderID: merging.orders[0], units: 3))
            return "\(outcome.units as Any) \(outcome.order.fulfilledUnits)"
        case .newPass:
            return text(
                try await world.claim(
                    "33", product: LedgerWorld.pass, customer: "device", try MergingWorld.pass("33", day: 2.5)))
        case .token:
            let isNew = try await ledger.perform(AssignToken(app: "example", customerID: "device", token: UUID()))
            return "\(isNew)"
        case .seat:
            // Two requests of one customer; the third one has a seat under the former name.
            var outcomes: [ClaimSeat.Outcome] = []
            for original in ["960", "970", "980"] {
                outcomes.append(try await MergingWorld.claimSeat(of: original, for: "device", world))
            }
            return outcomes.map { "\($0.seat) \($0.isReplayed)" }.joined(separator: "\n")
        case .unclaim:
            let seats = try await ledger.answer(
                SeatsOfSubscription(app: "example", originalTransactionID: "980", limit: 10))
            for seat in seats.claimed {
                try await ledger.perform(
                    UnclaimSeat(app: "example", originalTransactionID: "980", seatID: seat.seatID))
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
                try await ledger.perform(EndGround(app: "example", customerID: "device", id: ground.id))
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

    @Test("An erasure, a transfer, a grant and a second merge finish the merge in progress first")
    func actsOfOperators() async throws {
        for act in 0..<5 {
            try await MergingWorld.with { merging in
                _ = try await merging.moveOriginal()
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
                // The caller of a merge waits for its rows only for a moment; the first one has ended before.
                if [1, 2].contains(act) { try await ledger.finishMerges() }
                #expect(try await !merging.moveOriginal())
                try await merging.world.requireConsistency()
            }
        }
    }

    @Test("A merge of 300 originals changes at most 520 rows in one transaction, and resumes after each")
    func pieces() async throws {
        try await TemporaryFolder.with { folder in
            let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
            let stopping = StoppingDatabase(database)
            let world = try await LedgerWorld(stopping)
            let purchases = (0..<300).map { number in
                PurchaseTemplate.consumable(
                    productID: LedgerWorld.coins, transactionID: "\(1000 + number)", purchaseDate: MintedWorld.moment)
            }
            _ = try await world.ledger.restore(
                RestoreSubmission(
                    app: "example", customerID: "device", evidence: [try LedgerWorld.receipt(purchases)]))
            func changes() async throws -> Int64 {
                try await database.write { connection in
                    guard case .integer(let count)? = try connection.rows("SELECT total_changes()", []).first?.values[0]
                    else { return 0 }
                    return count
                }
            }
            var (counts, last): ([Int64], Int64) = ([], try await changes())
            stopping.allow(1)
            try await world.ledger.perform(MergeCustomers(app: "example", customerID: "device", into: "alice"))
            repeat {
                let now = try await changes()
                counts.append(now - last)
                last = now
                let balance = try await world.entitlement(environment: .sandbox)?.balance
                #expect(balance == 300)
                // A killed process: each piece runs in a ledger that was opened again, which writes once itself.
                stopping.allow(2)
            } while try await world.restarted([LedgerWorld.app()]).ledger.movePiece() != nil
            stopping.allow(.max)
            print("rows changed by each piece of a merge: \(counts)")
            #expect(counts.count > 4)
            #expect(counts.allSatisfy { $0 <= 520 })
            try await world.requireConsistency()
            try await database.close()
        }
    }
}
