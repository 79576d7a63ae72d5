import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Restores that take purchases over from guests, through real operations (docs/ledger.md, "Guests").
@Suite("Restores from guests", .tags(.everyEngine))
struct GuestRestoreTests {
    private static let download = "700000000000000001"

    static func guest(_ number: Int) -> String { "guest-00000000-0000-4000-8000-00000000000\(number)" }

    /// What one case changes of a restore that is allowed.
    private struct Case: Sendable {
        var name: String
        var code = "already_claimed"
        var policy = TransferPolicy.move
        var owner = GuestRestoreTests.guest(1)
        var isOwnerGuest = true
        var isRequested = true
        var product = LedgerWorld.monthly
        var token: String?
        /// Happens between the claim and the restore.
        var between: @Sendable (LedgerWorld) async throws -> Void = { _ in }
        var appTransaction: @Sendable (Date) throws -> [UInt8]? = { try GuestRestoreTests.appTransaction($0) }
    }

    static func appTransaction(
        _ date: Date, environment: String = "Production", _ change: (inout AppTransactionTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        var template = AppTransactionTemplate(bundleID: "com.example.app", creationDate: date, environment: environment)
        change(&template)
        return try MintedWorld.mint(template)
    }

    private static func period(_ product: String, token: String? = nil) throws -> [UInt8] {
        guard product != LedgerWorld.monthly else {
            return try LedgerWorld.period("901", from: 0, days: 90) {
                ($0.appTransactionID, $0.appAccountToken) = (Self.download, token)
            }
        }
        let kind: SignedTransactionTemplate.ProductType = product == LedgerWorld.pro ? .nonConsumable : .consumable
        return try LedgerWorld.signed("901", product: product, kind: kind) {
            ($0.appTransactionID, $0.appAccountToken) = (Self.download, token)
        }
    }

    private static func claim(
        _ customer: String, isGuest: Bool, product: String = LedgerWorld.monthly, _ evidence: [UInt8],
        _ world: LedgerWorld
    ) async throws -> PurchaseOutcome {
        var claim = world.submission("901", product: product, customer: customer, evidence)
        claim.claim.isGuest = isGuest
        return try await world.ledger.submit(claim)
    }

    private static func restore(
        _ customer: String, _ evidence: [UInt8], isRequested: Bool = true, _ appTransaction: [UInt8]?,
        _ world: LedgerWorld
    ) async throws -> RestoreOutcome {
        var restore = RestoreSubmission(app: "example", customerID: customer, evidence: [evidence])
        (restore.isRequested, restore.isGuest, restore.appTransaction) = (isRequested, true, appTransaction)
        return try await world.ledger.restore(restore)
    }

    private static func date(_ world: LedgerWorld) -> Date {
        Date(timeIntervalSince1970: Double(world.clock.now.millisecondsSince1970) / 1000)
    }

    private static let cases: [Case] = [
        Case(name: "all bounds", code: "accepted"),
        Case(name: "a non-consumable", code: "accepted", product: LedgerWorld.pro),
        Case(
            name: "the guest's own token", code: "accepted", token: token,
            between: {
                _ = try await $0.ledger.perform(
                    AssignToken(app: "example", customerID: guest(1), token: try #require(UUID(uuidString: token))))
            }),
        Case(
            name: "a token of another customer", code: "already_claimed", token: token,
            between: {
                _ = try await $0.ledger.perform(
                    AssignToken(app: "example", customerID: "carol", token: try #require(UUID(uuidString: token))))
            }),
        Case(name: "guest_restore is deny", policy: .deny), Case(name: "nobody asked for it", isRequested: false),
        Case(name: "the owner has the name of no guest", owner: "alice"),
        Case(name: "the app did not say that the owner is a guest", isOwnerGuest: false),
        Case(name: "a consumable", product: LedgerWorld.coins),
        Case(name: "no app transaction", appTransaction: { _ in nil }),
        Case(name: "evidence of another kind", appTransaction: { _ in try period(LedgerWorld.monthly) }),
        Case(
            name: "another download",
            appTransaction: { try appTransaction($0) { $0.appTransactionID = "700000000000000002" } }),
        Case(name: "another environment", appTransaction: { try appTransaction($0, environment: "Sandbox") }),
        Case(name: "another app", appTransaction: { try appTransaction($0) { $0.bundleID = "com.example.other" } }),
        Case(name: "an hour and a second old", appTransaction: { try appTransaction($0.addingTimeInterval(-3601)) }),
        Case(
            name: "a forged one",
            appTransaction: { date in
                var bytes = try appTransaction(date)
                bytes[bytes.count - 10] ^= 1
                return bytes
            }),
        Case(name: "an order of a backend", between: { _ = try await $0.order(guest(1), product: LedgerWorld.pro) }),
        Case(
            name: "a grant of an operator",
            between: {
                _ = try await $0.ledger.perform(
                    GrantByHand(
                        app: "example", customerID: guest(1), productID: LedgerWorld.pro, quantity: 1, reason: "asked"))
            }),
        Case(
            name: "a tester",
            between: {
                _ = try await $0.ledger.perform(
                    ChangeTester(app: "example", customerID: guest(1), isTester: true, reason: "asked"))
            }),
        Case(
            name: "a merge into the guest",
            between: {
                try await $0.ledger.perform(MergeCustomers(app: "example", customerID: "dora", into: guest(1)))
            }),
        Case(
            name: "an operator's transfer",
            between: {
                for name in ["dora", guest(1)] {
                    _ = try await $0.ledger.perform(
                        MovePurchase(app: "example", transactionID: "901", to: name, reason: "asked"))
                }
            }),
    ]

    private static let token = "0a8c2a63-4d2c-4c6b-8b53-0a1d6b0b8b11"

    @Test("Takes over within all bounds, and each bound alone refuses; replay, audit and rebuild are equal")
    func bounds() async throws {
        for one in Self.cases {
            try await LedgerWorld.with({ $0.guestRestore = one.policy }) { world in
                let evidence = try Self.period(one.product, token: one.token)
                _ = try await world.claim("1", customer: "dora", try LedgerWorld.signed("1"))
                let claim = try await Self.claim(
                    one.owner, isGuest: one.isOwnerGuest, product: one.product, evidence, world)
                #expect(claim.code == "accepted")
                try await one.between(world)
                let events = try await world.events()
                let outcome = try await Self.restore(
                    Self.guest(2), evidence, isRequested: one.isRequested,
                    try one.appTransaction(Self.date(world)), world)
                let codes = outcome.purchases.map(\.code)
                let isTaken = one.code == "accepted"
                #expect(isTaken ? codes == ["accepted"] : codes != ["accepted"], "\(one.name): \(codes)")
                #expect(outcome.ownsPurchase == isTaken, "\(one.name)")
                let isAsked = one.policy == .move && one.isRequested && !isTaken
                if outcome.needsAppTransaction { #expect(isAsked, "\(one.name)") }
                if one.name == "no app transaction" { #expect(outcome.needsAppTransaction) }
                let transferred = try await world.events().dropFirst(events.count).filter { $0 == "transferred" }
                #expect(transferred.count == (isTaken ? 2 : 0), "\(one.name)")
                if isTaken { try await world.rebuilt() }
            }
        }
    }

    @Test("An original is transferred once in 30 days, to whomever")
    func pause() async throws {
        try await LedgerWorld.with({ $0.guestRestore = .move }) { world in
            let evidence = try Self.period(LedgerWorld.monthly)
            _ = try await Self.claim(Self.guest(1), isGuest: true, evidence, world)
            func restore(_ guest: Int) async throws -> [String] {
                let proof = try Self.appTransaction(Self.date(world))
                return try await Self.restore(Self.guest(guest), evidence, proof, world).purchases.map(\.code)
            }
            #expect(try await restore(2) == ["accepted"])
            #expect(try await restore(2) == ["accepted"], "it is theirs now")
            #expect(try await restore(1) == ["already_claimed"])
            world.clock.advance(seconds: 30 * 86_400 - 1)
            #expect(try await restore(3) == ["already_claimed"])
            world.clock.advance(seconds: 1)
            #expect(try await restore(3) == ["accepted"])
            // Evidence that becomes known later follows the subscription.
            try await world.observe(try LedgerWorld.period("902", from: 90) { $0.appTransactionID = Self.download })
            world.clock.advance(days: 62)
            #expect(try await world.entitlement(LedgerWorld.monthly, of: Self.guest(3))?.transactionID == "902")
            try await world.rebuilt()
        }
    }

    @Test("Under transfer: move, only a restore that the customer asked for transfers")
    func quiet() async throws {
        try await LedgerWorld.with({ $0.transfer = .move }) { world in
            let evidence = try Self.period(LedgerWorld.monthly)
            _ = try await Self.claim("alice", isGuest: false, evidence, world)
            for (isRequested, code) in [(false, "already_claimed"), (true, "accepted")] {
                let outcome = try await Self.restore("bob", evidence, isRequested: isRequested, nil, world)
                #expect(outcome.purchases.map(\.code) == [code])
            }
            try await world.rebuilt()
        }
    }

    @Test("A tap on Restore that waits for the App Store takes over as if it had not, and never joins a quiet look")
    func waits() async throws {
        try await LedgerWorld.with {
            ($0.mode, $0.guestRestore) = (.apple, .move)
        } _: { world in
            let receipt = try LedgerWorld.receipt([
                .nonConsumable(productID: LedgerWorld.pro, transactionID: "901", purchaseDate: MintedWorld.moment)
            ])
            let proof = try Self.appTransaction(Self.date(world), environment: "Sandbox")
            func restore(_ isRequested: Bool, _ proof: [UInt8]?) async throws -> UUID {
                let outcome = try await Self.restore(Self.guest(2), receipt, isRequested: isRequested, proof, world)
                #expect(outcome.purchases.map(\.code) == ["app_store_pending"] && !outcome.needsAppTransaction)
                return try #require(outcome.waiting.first).claim
            }
            let quiet = try await restore(false, nil)
            let bare = try await restore(true, nil)
            let tap = try await restore(true, proof)
            #expect(Set([quiet, bare, tap]).count == 3)
            #expect(try await restore(true, proof) == tap)
            // The other device of this Apple Account was quicker.
            let signed = try LedgerWorld.signed("901", product: LedgerWorld.pro, kind: .nonConsumable) {
                ($0.environment, $0.appTransactionID) = ("Sandbox", Self.download)
            }
            let claim = try await Self.claim(Self.guest(1), isGuest: true, product: LedgerWorld.pro, signed, world)
            #expect(claim.code == "accepted")
            world.clock.advance(seconds: 7200)
            for (one, code) in [(quiet, "already_claimed"), (bare, "already_claimed"), (tap, "accepted")] {
                guard case .restored(let outcome) = try await world.answer(one, LedgerWorld.agreement()) else {
                    Issue.record("\(code) was not decided")
                    continue
                }
                #expect(outcome.purchases.map(\.code) == [code])
                #expect(outcome.needsAppTransaction == (one == bare))
            }
            try await world.rebuilt()
        }
    }

    @Test("The mark survives a request that is refused, and what was taken over stays after erasures of either guest")
    func marks() async throws {
        for erased in [Self.guest(1), Self.guest(2)] {
            try await LedgerWorld.with({ $0.guestRestore = .move }) { world in
                let evidence = try Self.period(LedgerWorld.monthly)
                let forged = Array("e30.e30.A".utf8)
                var first = RestoreSubmission(app: "example", customerID: Self.guest(1), evidence: [forged, forged])
                first.isGuest = true
                _ = try await world.ledger.restore(first)
                #expect(try await world.ledger.answer(IsGuest(app: "example", customerID: Self.guest(1))))
                // So has one whose first claim is forged, in the record too.
                _ = try await Self.claim(Self.guest(3), isGuest: true, forged, world)
                // It was known as a guest before, whatever the app says now.
                _ = try await Self.claim(Self.guest(1), isGuest: false, evidence, world)
                let proof = try Self.appTransaction(Self.date(world))
                let taken = try await Self.restore(Self.guest(2), evidence, proof, world)
                #expect(taken.purchases.map(\.code) == ["accepted"])
                _ = try await world.ledger.perform(EraseCustomer(app: "example", customerID: erased, reason: "asked"))
                #expect(try await !world.ledger.answer(IsGuest(app: "example", customerID: erased)))
                let isLeft = erased != Self.guest(2)
                let access = try await world.entitlement(LedgerWorld.monthly, of: Self.guest(2))
                #expect((access?.state == .active) == isLeft)
                try await world.rebuilt()
            }
        }
    }
}
