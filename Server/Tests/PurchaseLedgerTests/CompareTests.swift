import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Another system's answers beside the ledger's (docs/compare.md).
@Suite("Comparing another system's answers", .tags(.everyEngine))
struct CompareTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    private static let named = "pro"

    static func day(_ day: Double) -> Timestamp {
        Timestamp(MintedWorld.moment.addingTimeInterval(3600 + day * 86_400))
    }

    static func theirs(
        _ customer: String, _ product: String = LedgerWorld.monthly, active: Bool? = nil,
        until: Double? = nil, _ change: (inout ForeignAnswer) -> Void = { _ in }
    ) -> ForeignAnswer {
        var answer = ForeignAnswer(customerID: customer, .product(product), isActive: active)
        if let until { answer.end = .at(day(until)) }
        change(&answer)
        return answer
    }

    static func renewal(
        of original: String, on day: Double, _ change: (inout RenewalInfoTemplate) -> Void
    ) throws -> [UInt8] {
        let period = LedgerWorld.template(original, product: LedgerWorld.monthly) {
            $0.originalTransactionID = original
        }
        var template = RenewalInfoTemplate(transaction: period)
        template.signedDate = MintedWorld.moment.addingTimeInterval(3600 + day * 86_400)
        change(&template)
        return try MintedWorld.mint(template)
    }

    /// A way in which another system can be wrong: what happened, and what the other system says on day 40.
    struct Mistake: Sendable {
        let cause: ComparisonCause
        let rule: String
        /// Brings the purchases of a customer into the ledger. The text is the start of all of the customer's ids.
        let happen: @Sendable (LedgerWorld, _ id: String) async throws -> Void
        /// What the other system says.
        let says: @Sendable (_ id: String) -> ForeignAnswer
    }

    static func claim(
        _ world: LedgerWorld, _ id: String, _ evidence: [UInt8]
    ) async throws {
        let outcome = try await world.claim("\(id)1", product: LedgerWorld.monthly, customer: id, evidence)
        #expect(["accepted", "subscription_expired"].contains(outcome.code), "\(outcome.code)")
    }

    /// The ten of the sample of 10,000 customers.
    static let mistakes: [Mistake] = [
        Mistake(cause: .refundMissed, rule: "state_4") { world, id in
            try await claim(world, id, try LedgerWorld.period("\(id)1", original: "\(id)1", from: 20))
            try await world.observe(
                try LedgerWorld.period("\(id)1", original: "\(id)1", from: 20) {
                    $0.refund(at: MintedWorld.moment.addingTimeInterval(30 * 86_400))
                })
        } says: {
            theirs($0, until: 50)
        },
        Mistake(cause: .renewalMissed, rule: "state_7") { world, id in
            try await claim(world, id, try LedgerWorld.period("\(id)1", original: "\(id)1", from: 0))
            try await world.observe(try LedgerWorld.period("\(id)2", original: "\(id)1", from: 30))
        } says: {
            theirs($0, until: 30)
        },
        Mistake(cause: .graceMissed, rule: "state_8") { world, id in
            try await claim(world, id, try LedgerWorld.period("\(id)1", original: "\(id)1", from: 5))
            try await world.observe(
                try renewal(of: "\(id)1", on: 35.1) {
                    $0.isInBillingRetryPeriod = true
                    $0.gracePeriodExpiresDate = MintedWorld.moment.addingTimeInterval(3600 + 45 * 86_400)
                })
        } says: {
            theirs($0, active: false)
        },
        Mistake(cause: .sandboxCounted, rule: "sandbox_access") { world, id in
            try await claim(
                world, id, try LedgerWorld.period("\(id)1", original: "\(id)1", from: 20) { $0.environment = "Sandbox" }
            )
        } says: {
            theirs($0, until: 50)
        },
        Mistake(cause: .ownedByAnother, rule: "own_3") { world, id in
            _ = try await world.claim(
                "\(id)1", customer: "the owner of \(id)",
                try LedgerWorld.period("\(id)1", original: "\(id)1", from: 20))
        } says: { id in
            theirs(id, until: 50) { $0.transactionID = "\(id)1" }
        },
        Mistake(cause: .customerUnknown, rule: "nothing_recorded") { _, _ in
        } says: {
            theirs($0, active: true)
        },
        Mistake(cause: .productUnknown, rule: "settings") { world, id in
            try await claim(world, id, try LedgerWorld.period("\(id)1", original: "\(id)1", from: 20))
        } says: {
            theirs($0, "com.example.app.platinum", active: true)
        },
        Mistake(cause: .extensionMissed, rule: "state_7") { world, id in
            try await claim(world, id, try LedgerWorld.period("\(id)1", original: "\(id)1", from: 5))
            try await world.observe(
                try LedgerWorld.period("\(id)1", original: "\(id)1", from: 5, days: 45) {
                    $0.signedDate = MintedWorld.moment.addingTimeInterval(34 * 86_400)
                })
        } says: {
            theirs($0, until: 35)
        },
        Mistake(cause: .upgradeMissed, rule: "state_superseded") { world, id in
            try await claim(world, id, try LedgerWorld.period("\(id)1", original: "\(id)1", from: 15))
            try await world.observe(
                try LedgerWorld.period(
                    "\(id)2", original: "\(id)1", product: LedgerWorld.yearly, from: 20, days: 365))
        } says: {
            theirs($0, until: 45)
        },
        Mistake(cause: .retryCounted, rule: "state_9") { world, id in
            try await claim(world, id, try LedgerWorld.period("\(id)1", original: "\(id)1", from: 5))
            try await world.observe(try renewal(of: "\(id)1", on: 35.1) { $0.isInBillingRetryPeriod = true })
        } says: {
            theirs($0, active: true)
        },
    ]

    @Test("28.3 Of 10,000 customers, 200 are wrong in ten named ways: exactly these are found, each with its cause")
    func tenThousand() async throws {
        #expect(Set(Self.mistakes.map(\.cause)).count == 10)
        try await TestEngine.sqlite.withDatabase { open in
            let database = try open()
            let world = try await LedgerWorld(database)
            world.clock.advance(days: 40)
            var answers: [ForeignAnswer] = []
            var wrong: [String: Mistake] = [:]
            for (kind, mistake) in Self.mistakes.enumerated() {
                for number in 0..<20 {
                    let id = "\(7 + kind)0\(100 + number)"
                    wrong[id] = mistake
                    answers.append(mistake.says(id))
                }
            }
            let planted = wrong
            try await Self.concurrently(planted.keys.sorted()) { try await planted[$0]?.happen(world, $0) }
            // The same histories, of which the other system says the truth; grants by hand; and customers without
            // anything.
            let right: [(id: String, answer: ForeignAnswer)] = (0..<300).map { number in
                let id = "3\(1000 + number)"
                let answer =
                    switch number % 5 {
                    case 0: Self.theirs(id, until: 48)
                    case 1: Self.theirs(id, active: false)
                    case 2: Self.theirs(id, active: true, until: 60) { $0.subject = .entitlement(Self.named) }
                    case 3: Self.theirs(id, until: 35)
                    default: Self.theirs(id, until: 50) { $0.environment = .production }
                    }
                return (id, answer)
            }
            answers += right.map(\.answer)
            try await Self.concurrently(right.map(\.id)) { id in
                let number = (Int(id) ?? 0) % 5
                let start = [18.0, 2, 0, 5, 20][number]
                try await Self.claim(world, id, try LedgerWorld.period("\(id)1", original: "\(id)1", from: start))
                guard number == 2 else { return }
                try await world.observe(try LedgerWorld.period("\(id)2", original: "\(id)1", from: 30))
            }
            let granted = (0..<9500).map { "granted \($0)" }
            answers += granted.enumerated().map { number, id in
                Self.theirs(id, LedgerWorld.pro, active: number % 3 != 0, until: Double(30 + number % 3 * 20))
            }
            try await Self.concurrently(granted) { id in
                let number = (Int(id.split(separator: " ")[1]) ?? 0) % 3
                try await world.grant(
                    LedgerWorld.pro, to: id, until: Self.day(Double(30 + number * 20) + (number == 0 ? 11 : 0)))
            }
            #expect(answers.count == 10_000)
            // A third of the grants ends.
            world.clock.advance(days: 1)
            let comparisons = try await world.ledger.answer(CompareAnswers(app: "example", answers.shuffled()))
            let different = comparisons.filter { !$0.agrees }
            #expect(different.count == 200)
            #expect(Set(different.map(\.customerID)) == Set(planted.keys))
            for comparison in different {
                let id = comparison.customerID
                let mistake = try #require(planted[id])
                #expect(comparison.code == mistake.cause.rawValue && comparison.rule == mistake.rule, "\(comparison)")
                guard mistake.cause.right == .ours else { continue }
                #expect(comparison.text?.hasPrefix("Assay is right: ") == true)
                let evidence = try #require(comparison.evidence)
                #expect(evidence.contains { $0.transactionID.hasPrefix(id) && !$0.entryIDs.isEmpty })
            }
            try await database.close()
        }
    }

    /// Some at a time, so that the ledger commits them in groups.
    static func concurrently(
        _ ids: [String], _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var rest = ids[...]
            for id in rest.prefix(32) { group.addTask { try await body(id) } }
            rest = rest.dropFirst(32)
            while try await group.next() != nil {
                guard let id = rest.popFirst() else { continue }
                group.addTask { try await body(id) }
            }
        }
    }

    @Test("28.3 Each of the ten ways has its cause on each engine, and the answer that is right agrees", .ledger)
    func eachMistake() async throws {
        world.clock.advance(days: 40)
        for (number, mistake) in Self.mistakes.enumerated() {
            let id = "\(number + 1)000"
            try await mistake.happen(world, id)
            let comparison = try await Self.compare(mistake.says(id), world)
            #expect(comparison.code == mistake.cause.rawValue && comparison.rule == mistake.rule, "\(comparison)")
            // What the ledger says agrees with itself.
            var own = mistake.says(id)
            own.isActive = comparison.ours.active
            own.end = comparison.ours.until.flatMap { Timestamp($0) }.map { .at($0) } ?? .unlimited
            #expect(try await Self.compare(own, world).agrees, "\(mistake.cause)")
        }
    }

    static func compare(_ answer: ForeignAnswer, _ world: LedgerWorld) async throws -> ComparisonMessage {
        try #require(try await world.ledger.answer(CompareAnswers(app: "example", [answer])).first)
    }

    @Test("28.3 The other causes, each with its rule", .ledger({ $0.mode = .both }))
    func otherCauses() async throws {
        world.clock.advance(days: 40)
        func expect(
            _ answer: ForeignAnswer, _ cause: ComparisonCause?, _ rule: String = "",
            _ location: SourceLocation = #_sourceLocation
        ) async throws {
            let comparison = try await Self.compare(answer, world)
            #expect(comparison.code == cause?.rawValue, "\(comparison.text ?? "none")", sourceLocation: location)
            if cause != nil { #expect(comparison.rule == rule, sourceLocation: location) }
        }
        func period(
            _ customer: String, _ id: String, from start: Double, days: Double = 30,
            _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
        ) async throws {
            _ = try await world.claim(
                id, customer: customer,
                try LedgerWorld.period(id, original: id, from: start, days: days, change))
        }
        let family: (inout SignedTransactionTemplate) -> Void = {
            $0.inAppOwnershipType = "FAMILY_SHARED"
            $0.refund(at: MintedWorld.moment.addingTimeInterval(30 * 86_400))
            $0.revocationType = "FAMILY_REVOKE"
        }
        try await period("member", "10", from: 20, family)
        try await expect(Self.theirs("member", until: 50), .familyRevokeMissed, "state_2")
        // Ended, and signed as not to be renewed.
        try await period("ended", "20", from: 5)
        try await world.observe(try Self.renewal(of: "20", on: 20) { $0.autoRenewStatus = 0 })
        try await expect(Self.theirs("ended", active: true), .expiryMissed, "state_12")
        try await expect(Self.theirs("ended", active: false), nil)
        // A period that only the other system has seen.
        try await expect(Self.theirs("ended", until: 65), .purchaseNotSeen, "nothing_recorded")
        try await expect(Self.theirs("ended", LedgerWorld.pro, active: true), .purchaseNotSeen, "nothing_recorded")
        try await period("silent", "30", from: 5)
        try await expect(Self.theirs("silent", active: true), .newsMissing, "state_11")
        try await period("late", "40", from: 10)
        try await expect(Self.theirs("late", active: true, until: 60), .purchaseNotSeen, "nothing_recorded")
        world.clock.advance(seconds: 60)
        try await expect(Self.theirs("late", active: false), .accessAssumed, "state_10")
        try await expect(Self.theirs("late", until: 39) { $0.moment = Self.day(38) }, .untilDiffers, "state_7")
        try await expect(Self.theirs("late", until: 40) { $0.moment = Self.day(38) }, nil)
        // Reversed.
        try await period("back", "50", from: 20)
        for (stamp, isRevoked) in [(25.0, true), (30, false)] {
            try await world.observe(
                try LedgerWorld.period("50", original: "50", from: 20) {
                    $0.signedDate = MintedWorld.moment.addingTimeInterval(3600 + stamp * 86_400)
                    $0.revocationDate = isRevoked ? $0.signedDate : nil
                })
        }
        try await expect(Self.theirs("back", active: false), .reversalMissed, "state_7")
        try await expect(Self.theirs("back", active: true), nil)
        // Never seen by the other system, by hand, consumed, held.
        try await period("new", "60", from: 20)
        try await expect(Self.theirs("new", active: false), .purchaseMissed, "state_7")
        try await world.grant(LedgerWorld.pro, to: "gift")
        try await expect(Self.theirs("gift", LedgerWorld.pro, active: false), .grantedByHand, "by_hand")
        try await expect(Self.theirs("gift", LedgerWorld.pro, active: true) { $0.end = .unlimited }, nil)
        try await expect(Self.theirs("gift", LedgerWorld.pro, until: 90), .untilDiffers, "by_hand")
        _ = try await world.claim("70", customer: "spender", try LedgerWorld.signed("70"))
        _ = try await world.consume(1, "all", of: "spender")
        try await expect(Self.theirs("spender", LedgerWorld.coins, active: true), .unitsConsumed, "kind_consumable")
        try await world.observe(try LedgerWorld.period("80", original: "80", from: 20))
        try await expect(Self.theirs("unclaimed", until: 50) { $0.transactionID = "80" }, .purchaseHeld, "own_4")
        // Of another environment than the other system says.
        try await period("tester", "90", from: 20) { $0.environment = "Sandbox" }
        for environment in [AppStoreEnvironment.production, .sandbox] {
            try await expect(
                Self.theirs("tester", until: 50) { $0.environment = environment },
                environment == .production ? .sandboxCounted : nil, "sandbox_access")
        }
        // Of Production, and the other system says the sandbox.
        try await period("buyer", "91", from: 20)
        let unasked = Self.theirs("buyer", until: 50) { $0.environment = .sandbox }
        try await expect(unasked, .purchaseNotSeen, "nothing_recorded")
        #expect(try await Self.compare(unasked, world).text?.contains("sandbox, which") == false)
        // Transferred by an operator.
        try await world.move("60", to: "heir")
        try await expect(Self.theirs("new", until: 50), .ownedByAnother, "own_5")
        try await expect(Self.theirs("heir", active: false), .transferMissed, "own_5")
    }

    @Test("28.3 The evidence of a difference is found after a merge as before it", .ledger)
    func mergedEvidence() async throws {
        world.clock.advance(days: 10)
        _ = try await world.claim("10", customer: "device", try LedgerWorld.period("10", original: "10", from: 5))
        let theirs = Self.theirs("device", active: false)
        let before = try await Self.compare(theirs, world).evidence
        #expect(before?.first?.entryIDs.isEmpty == false)
        try await world.merge("device", into: "alice")
        let after = try await Self.compare(theirs, world).evidence
        #expect(after == before)
    }
}

/// Causes of differences beside the ten ways.
extension CompareTests {
    @Test("28.3 A period that ends after every recorded one is not explained by what happened to those", .ledger)
    func laterPeriods() async throws {
        let causes: [ComparisonCause] = [.refundMissed, .upgradeMissed, .retryCounted]
        world.clock.advance(days: 40)
        for (number, mistake) in Self.mistakes.enumerated() where causes.contains(mistake.cause) {
            let id = "\(number + 1)000"
            try await mistake.happen(world, id)
            // The last recorded periods of the product end on the days 50, 45 and 35.
            for day in [60.0, 80] {
                let comparison = try await Self.compare(Self.theirs(id, until: day), world)
                let sentence = comparison.text ?? "none"
                #expect(comparison.code == ComparisonCause.purchaseNotSeen.rawValue, "\(mistake.cause): \(sentence)")
                #expect(comparison.rule == "nothing_recorded")
                #expect(comparison.text?.hasPrefix("It is open who is right: ") == true)
            }
            let known = Self.theirs(id, until: mistake.cause == .refundMissed ? 50 : 45)
            let cause = mistake.cause == .retryCounted ? ComparisonCause.purchaseNotSeen : mistake.cause
            #expect(try await Self.compare(known, world).code == cause.rawValue)
        }
    }

    @Test("28.3 What begins later, seats, revocations by hand, unknown ends and wrong settings have their causes")
    func rareCauses() async throws {
        var configured = LedgerWorld.app()
        configured.products[LedgerWorld.pro] = RegisteredProduct(kind: .consumable)
        let app = configured
        try await TestEngine.withDatabases { database in
            let world = try await LedgerWorld(database, apps: [app])
            world.clock.advance(days: 10)
            func expect(
                _ answer: ForeignAnswer, _ cause: ComparisonCause, _ rule: String, evidence transaction: String?,
                _ location: SourceLocation = #_sourceLocation
            ) async throws {
                let comparison = try await Self.compare(answer, world)
                #expect(comparison.code == cause.rawValue, "\(comparison.text ?? "none")", sourceLocation: location)
                #expect(comparison.rule == rule, sourceLocation: location)
                let right = cause.right == .ours ? "Assay is right: " : "It is open who is right: "
                #expect(comparison.text?.hasPrefix(right) ?? false, sourceLocation: location)
                if let transaction {
                    #expect(comparison.evidence?.map(\.transactionID) == [transaction], sourceLocation: location)
                }
            }
            // The App Store signs a period up to a day before it begins.
            _ = try await world.claim(
                "10", customer: "early",
                try LedgerWorld.period("10", original: "10", from: 10.5) {
                    $0.signedDate = MintedWorld.moment.addingTimeInterval(10 * 86_400)
                })
            try await world.observe(
                try LedgerWorld.period("11", original: "10", from: 40.5) {
                    $0.signedDate = MintedWorld.moment.addingTimeInterval(10 * 86_400)
                })
            try await expect(Self.theirs("early", active: true), .notStarted, "state_1", evidence: "10")
            try await expect(Self.theirs("early", until: 70.5), .notStarted, "state_1", evidence: "10")
            #expect(try await Self.compare(Self.theirs("early", active: false), world).agrees)
            _ = try await world.claim("20", customer: "banned", try LedgerWorld.period("20", original: "20", from: 5))
            try await world.revoke("20", of: "banned")
            try await expect(Self.theirs("banned", until: 35), .revokedByHand, "by_hand", evidence: "20")
            _ = try await world.claim(
                "30", customer: "endless",
                try LedgerWorld.period("30", original: "30", from: 5) { $0.expiresDate = nil })
            try await expect(Self.theirs("endless", active: true), .periodUnknown, "state_5", evidence: "30")
            try await world.observe(
                try LedgerWorld.signed("40", product: LedgerWorld.pro) {
                    $0.appAccountToken = "00000000-0000-4000-8000-000000000040"
                })
            try await world.assign(
                try #require(UUID(uuidString: "00000000-0000-4000-8000-000000000040")), to: "mismatched")
            try await expect(
                Self.theirs("mismatched", LedgerWorld.pro, active: true), .productKindMismatch, "settings",
                evidence: "40")
            // Two seats are fewer than three claims, and one that ended.
            _ = try await world.claim(
                "900", customer: "team",
                try MintedWorld.mint(try SeatCountTests.team("900", 3, from: 0)))
            try await world.observe(try MintedWorld.mint(try SeatCountTests.team("901", 2, from: 30)))
            var seats: [String] = []
            for member in ["first", "second", "third"] {
                world.clock.advance(seconds: 60)
                seats.append(
                    try await world.ledger.perform(
                        ClaimSeat(app: "example", originalTransactionID: "900", customerID: member, requestID: member)
                    ).seatID)
            }
            world.clock.advance(days: 21)
            try await expect(Self.theirs("third", until: 60), .seatCounted, "seats", evidence: nil)
            #expect(try await Self.compare(Self.theirs("second", until: 60), world).agrees)
            try await world.ledger.perform(UnclaimSeat(app: "example", originalTransactionID: "900", seatID: seats[0]))
            world.clock.advance(seconds: 60)
            try await expect(Self.theirs("first", until: 60), .seatCounted, "seats", evidence: nil)
            #expect(try await Self.compare(Self.theirs("third", until: 60), world).agrees)
        }
    }
}
