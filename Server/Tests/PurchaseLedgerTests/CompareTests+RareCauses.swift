import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Causes of differences beside the ten ways.
extension CompareTests {
    @Test("28.3 A period that ends after every recorded one is not explained by what happened to those")
    func laterPeriods() async throws {
        let causes: [ComparisonCause] = [.refundMissed, .upgradeMissed, .retryCounted]
        try await LedgerWorld.with { world in
            world.clock.advance(days: 40)
            for (number, mistake) in Self.mistakes.enumerated() where causes.contains(mistake.cause) {
                let id = "\(number + 1)000"
                try await mistake.happen(world, id)
                // The last recorded periods of the product end on the days 50, 45 and 35.
                for day in [60.0, 80] {
                    let comparison = try await Self.compare(Self.theirs(id, until: day), world)
                    let sentence = comparison.text ?? "none"
                    #expect(
                        comparison.code == ComparisonCause.purchaseNotSeen.rawValue, "\(mistake.cause): \(sentence)")
                    #expect(comparison.rule == "nothing_recorded")
                    #expect(comparison.text?.hasPrefix("It is open who is right: ") == true)
                }
                let known = Self.theirs(id, until: mistake.cause == .refundMissed ? 50 : 45)
                let cause = mistake.cause == .retryCounted ? ComparisonCause.purchaseNotSeen : mistake.cause
                #expect(try await Self.compare(known, world).code == cause.rawValue)
            }
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
                "10", product: LedgerWorld.monthly, customer: "early",
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
            _ = try await world.claim(
                "20", product: LedgerWorld.monthly, customer: "banned",
                try LedgerWorld.period("20", original: "20", from: 5))
            _ = try await world.ledger.perform(
                RevokeByHand(
                    app: "example", customerID: "banned", .purchase(transactionID: "20", environment: nil),
                    reason: "fraud"))
            try await expect(Self.theirs("banned", until: 35), .revokedByHand, "by_hand", evidence: "20")
            _ = try await world.claim(
                "30", product: LedgerWorld.monthly, customer: "endless",
                try LedgerWorld.period("30", original: "30", from: 5) { $0.expiresDate = nil })
            try await expect(Self.theirs("endless", active: true), .periodUnknown, "state_5", evidence: "30")
            try await world.observe(
                try LedgerWorld.signed("40", product: LedgerWorld.pro, kind: .nonConsumable) {
                    $0.appAccountToken = "00000000-0000-4000-8000-000000000040"
                })
            _ = try await world.ledger.perform(
                AssignToken(
                    app: "example", customerID: "mismatched",
                    token: try #require(UUID(uuidString: "00000000-0000-4000-8000-000000000040"))))
            try await expect(
                Self.theirs("mismatched", LedgerWorld.pro, active: true), .productKindMismatch, "settings",
                evidence: "40")
            // Two seats are fewer than three claims, and one that ended.
            _ = try await world.claim(
                "900", product: LedgerWorld.monthly, customer: "team",
                try MintedWorld.mint(try SeatCountTests.team("900", 3, from: 0)))
            try await world.observe(try MintedWorld.mint(try SeatCountTests.team("901", 2, from: 30)))
            var seats: [String] = []
            for member in ["first", "second", "third"] {
                world.clock.advance(seconds: 60)
                seats.append(
                    try await world.ledger.perform(
                        ClaimSeat(
                            app: "example", originalTransactionID: "900", customerID: member, requestID: member)
                    ).seatID)
            }
            world.clock.advance(days: 21)
            try await expect(Self.theirs("third", until: 60), .seatCounted, "seats", evidence: nil)
            #expect(try await Self.compare(Self.theirs("second", until: 60), world).agrees)
            try await world.ledger.perform(
                UnclaimSeat(app: "example", originalTransactionID: "900", seatID: seats[0]))
            world.clock.advance(seconds: 60)
            try await expect(Self.theirs("first", until: 60), .seatCounted, "seats", evidence: nil)
            #expect(try await Self.compare(Self.theirs("third", until: 60), world).agrees)
        }
    }
}
