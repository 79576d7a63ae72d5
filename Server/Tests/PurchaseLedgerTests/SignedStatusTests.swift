import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Statuses that notifications state: facts of one subscription and holder.
@Suite("Signed statuses", .ledger)
struct SignedStatusTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static func date(_ day: Double) -> Date { MintedWorld.moment.addingTimeInterval(3600 + day * 86_400) }

    /// A notification with a status, and without a transaction unless one is signed with it.
    private static func status(
        _ status: Int64, of original: String = "900", on day: Double, transactionSignedOn signed: Double? = nil,
        _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        let period = LedgerWorld.template(
            "\(original)1", product: LedgerWorld.monthly
        ) {
            $0.originalTransactionID = original
            $0.expiresDate = $0.purchaseDate?.addingTimeInterval(30 * 86_400)
            $0.signedDate = date(signed ?? day)
            change(&$0)
        }
        var template = NotificationTemplate(
            notificationType: "REVOKE", transaction: period, renewalInfo: RenewalInfoTemplate(transaction: period))
        if signed == nil { template.data?.transaction = nil }
        template.data?.status = status
        template.signedDate = date(day)
        template.notificationUUID = UUID().uuidString.lowercased()
        return try MintedWorld.mint(template)
    }

    private static func claim(_ world: LedgerWorld, original: String = "900") async throws {
        _ = try await world.claim("\(original)1", try LedgerWorld.period("\(original)1", original: original, from: 0))
    }

    @Test("28.2 A signed status 5 withdraws, until a clean transaction is signed later: LEDGER-MODEL row 17")
    func revoked() async throws {
        world.clock.advance(days: 6)
        try await Self.claim(world)
        try await world.observe(try Self.status(1, on: 1))
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .active)
        try await world.observe(try Self.status(5, on: 2))
        let withdrawn = try #require(try await world.entitlement(LedgerWorld.monthly))
        #expect(withdrawn.state == .withdrawn && withdrawn.reason == .revoked && withdrawn.cancelReason == nil)
        // Asked for a time before, it was active.
        let before = try await world.entitlement(LedgerWorld.monthly, at: Timestamp(Self.date(1.5)))
        #expect(before?.state == .active)
        // An older status, and an older transaction, lift nothing.
        try await world.observe(try Self.status(1, on: 1.5, transactionSignedOn: 1.5))
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .withdrawn)
        try await world.observe(try LedgerWorld.period("9001", from: 0) { $0.signedDate = Self.date(3) })
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .active)
    }

    @Test("28.2 Statuses in every order give the same answer: the latest stamp counts, then 5")
    func everyOrder() async throws {
        world.clock.advance(days: 6)
        let statuses: [(Int64, Double)] = [(1, 1), (5, 2), (2, 2), (1, 0.5)]
        var number = 0
        for first in statuses.indices {
            for second in statuses.indices where second != first {
                for third in statuses.indices where third != first && third != second {
                    number += 1
                    let original = "\(7000 + number)"
                    let rest = statuses.indices.filter { ![first, second, third].contains($0) }
                    try await Self.claim(world, original: original)
                    for place in [first, second, third] + rest + [first] {
                        try await world.observe(try Self.status(statuses[place].0, of: original, on: statuses[place].1))
                    }
                }
            }
        }
        let purchases = try await world.entitlements(of: LedgerWorld.customer)
        #expect(purchases.entitlements.map(\.reason) == [.revoked])
        let timelines = try await world.database.read(.lists) { connection in
            try connection.rows("SELECT DISTINCT timeline FROM entitlements", []).count
        }
        // The transactions differ, so the timelines do, too; all are withdrawn.
        #expect(timelines == number)
    }

    @Test(
        "28.2 A status that withdraws, or is lifted, is one event; the revocation that follows it is none, and with both there is one"
    )
    func events() async throws {
        world.clock.advance(days: 6)
        func told(of original: String) async throws -> [String] {
            try await world.ledger.answer(EventList(app: "example", limit: 1000)).map(\.content)
                .filter { $0.originalTransactionID == original && $0.type != "renewal_changed" }.map(\.type)
        }
        func revoked(_ original: String, on day: Double, clean: Bool = false) throws -> [UInt8] {
            try LedgerWorld.period("\(original)1", original: original, from: 0) {
                $0.signedDate = Self.date(day)
                if !clean { $0.revocationDate = Self.date(2) }
            }
        }
        try await Self.claim(world, original: "81")
        for _ in 1...2 { try await world.observe(try Self.status(5, of: "81", on: 2)) }
        #expect(try await told(of: "81") == ["granted", "revoked"])
        try await world.observe(try revoked("81", on: 3))
        #expect(try await told(of: "81") == ["granted", "revoked"])
        try await world.observe(try revoked("81", on: 4, clean: true))
        #expect(try await told(of: "81") == ["granted", "revoked", "reversed"])
        try await Self.claim(world, original: "82")
        try await world.observe(try Self.status(5, of: "82", on: 2))
        try await world.observe(try revoked("82", on: 3, clean: true))
        #expect(try await told(of: "82") == ["granted", "revoked", "reversed"])
        try await Self.claim(world, original: "83")
        try await world.observe(
            try Self.status(5, of: "83", on: 2, transactionSignedOn: 2) { $0.revocationDate = Self.date(2) })
        #expect(try await told(of: "83") == ["granted", "revoked"])
    }

    @Test("28.2 A status is of one holder: that of a member of the family leaves the buyer alone")
    func holders() async throws {
        world.clock.advance(days: 6)
        try await Self.claim(world)
        let shared: (inout SignedTransactionTemplate) -> Void = {
            ($0.transactionID, $0.inAppOwnershipType, $0.appTransactionID) = ("9009", "FAMILY_SHARED", "77")
        }
        _ = try await world.claim("9009", customer: "bob", try LedgerWorld.period("9009", from: 0, shared))
        try await world.observe(try Self.status(5, on: 2, transactionSignedOn: 1, shared))
        #expect(try await world.entitlement(LedgerWorld.monthly, of: "bob")?.state == .withdrawn)
        #expect(try await world.entitlement(LedgerWorld.monthly)?.state == .active)
    }
}

@Suite("Evidence that contradicts earlier evidence of a purchase whose units were used", .ledger)
struct ContradictingEvidenceTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private func signed(_ second: Double, _ change: (inout SignedTransactionTemplate) -> Void) throws -> [UInt8] {
        try LedgerWorld.signed("1") {
            $0.quantity = 5
            $0.signedDate = $0.purchaseDate?.addingTimeInterval(second)
            change(&$0)
        }
    }

    @Test("With a new product the units leave the former balance, and used units are subtracted from the new one")
    func product() async throws {
        let gems = "com.example.app.gems"
        try await LedgerWorld.with({ $0.products[gems] = RegisteredProduct(kind: .consumable) }) { world in
            _ = try await world.claim("1", try signed(0) { _ in })
            _ = try await world.consume(2, "a")
            try await world.observe(try signed(1) { $0.productID = gems })
            #expect(try await world.entitlement()?.balance == nil)
            #expect(try await world.entitlement(gems)?.balance == 3)
            // No longer a consumable, and a consumable again.
            try await world.observe(
                try signed(2) {
                    $0.productID = LedgerWorld.pro
                    $0.type = .nonConsumable
                })
            #expect(try await world.entitlement(gems)?.balance == nil)
            #expect(try await world.entitlement(LedgerWorld.pro)?.state == .active)
            try await world.observe(try signed(3) { _ in })
            #expect(try await world.entitlement()?.balance == 3)
            #expect(try await world.entitlement()?.shortfall == 0)
            #expect(try await world.entitlement(LedgerWorld.pro) == nil)
        }
    }

    @Test("Another original is recorded, although units of the former one were used")
    func original() async throws {
        _ = try await world.claim("1", try signed(0) { _ in })
        _ = try await world.consume(2, "a")
        let outcome = try await world.claim("1", try signed(1) { $0.originalTransactionID = "2" })
        #expect(outcome.code == "accepted" && outcome.originalTransactionID == "2")
    }

    @Test("33.3 The note that a purchase belongs to another customer follows it to another original")
    func originalOfANote() async throws {
        let token = UUID()
        try await world.assign(token, to: "alice")
        _ = try await world.claim("1", customer: "bob", try signed(0) { $0.originalTransactionID = "7" })
        try await world.observe(
            try signed(1) {
                $0.originalTransactionID = "7"
                $0.appAccountToken = token.uuidString
            })
        #expect(try await world.entitlement(of: "bob")?.reason == .ownedByAnother)
        try await world.observe(try signed(2) { $0.appAccountToken = token.uuidString })
        #expect(try await world.entitlement(of: "bob")?.reason == .ownedByAnother)
        #expect(try await world.entitlement(of: "alice")?.balance == 5)
        try await world.requireConsistency()
    }

    @Test("The largest quantities are added up without an overflow", arguments: 1...3)
    func quantity(count: Int) async throws {
        for number in 1...count {
            let outcome = try await world.claim(
                "\(number)", try LedgerWorld.signed("\(number)") { $0.quantity = 1_000_000_000 })
            #expect(outcome.code == "accepted")
        }
        #expect(try await world.entitlement()?.balance == Int64(count) * 1_000_000_000)
    }
}
