import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The setting `lapse_tolerance`: row 10 of the state table, applied when an answer is given.
@Suite("33.1 Access that is assumed while the news of a renewal are late")
struct LapseToleranceTests {
    private let question = EntitlementsOfCustomer(app: "example", customerID: "alice")

    /// alice with a subscription, whose end is the time of the clock.
    private func atTheEnd(
        days: Double = 30, _ change: (inout RegisteredApp) -> Void = { _ in },
        _ body: (LedgerWorld) async throws -> Void
    ) async throws {
        try await LedgerWorld.with { app in
            app.mode = .both
            change(&app)
        } _: { world in
            _ = try await world.claim("10", try LedgerWorld.period("10", original: "10", from: 0, days: days))
            world.clock.advance(seconds: Int64(days * 86_400))
            try await body(world)
        }
    }

    private func answer(_ world: LedgerWorld) async throws -> Entitlement? {
        try await world.ledger.answer(question).entitlements.first
    }

    private func isAssumed(_ world: LedgerWorld) async throws -> Bool { try await answer(world)?.isAssumed == true }

    @Test("33.1 lapse_tolerance: active for an hour after the end, marked as assumed, with its names")
    func hour() async throws {
        try await atTheEnd { world in
            let end = world.clock.now
            for wait in [Int64(0), 3599] {
                world.clock.advance(seconds: wait)
                let entitlement = try await answer(world)
                #expect(entitlement?.state == .active && entitlement?.isAssumed == true && entitlement?.reason == nil)
                #expect(entitlement?.until == end.later(seconds: 3600))
                #expect(entitlement?.since == end.later(seconds: -30 * 86_400))
                #expect(try await world.ledger.answer(question).named.map(\.isActive) == [true])
            }
            world.clock.advance(seconds: 1)
            let expired = try await answer(world)
            #expect(expired?.state == .expired && expired?.reason == .newsMissing && expired?.isAssumed == false)
            #expect(expired?.until == end)
        }
    }

    @Test("33.1 lapse_tolerance applies to now only, never to a claim's code, and nothing of it is stored")
    func nowOnly() async throws {
        try await atTheEnd { world in
            world.clock.advance(seconds: 60)
            var past = question
            past.moment = world.clock.now
            #expect(try await world.ledger.answer(past).entitlements.first?.reason == .newsMissing)
            #expect(try await isAssumed(world))
            let repeated = try await world.claim("10", try LedgerWorld.period("10", original: "10", from: 0))
            #expect(repeated.code == "subscription_expired", "\(repeated.code)")
            #expect(try await world.ledger.audit().findings == [])
        }
    }

    @Test(
        "28.2 lapse_tolerance applies where a notification of the environment arrived in the last seven days, without asking Apple"
    )
    func notifications() async throws {
        try await atTheEnd({ $0.mode = .offline }) { world in
            #expect(try await !isAssumed(world))
            // One of the sandbox says nothing about production.
            try await world.observe(try MintedWorld.mint(MintedWorld.testNotification(environment: "Sandbox")))
            #expect(try await !isAssumed(world))
            try await world.observe(try MintedWorld.mint(MintedWorld.testNotification(environment: "Production")))
            #expect(try await isAssumed(world))
            #expect(try await world.ledger.audit().findings == [])
        }
        try await atTheEnd(days: 30, { ($0.mode, $0.lapseTolerance) = (.offline, 14 * 86_400_000) }) { world in
            try await world.observe(try MintedWorld.mint(MintedWorld.testNotification(environment: "Production")))
            world.clock.advance(seconds: 7 * 86_400 - 1)
            #expect(try await isAssumed(world))
            world.clock.advance(seconds: 1)
            #expect(try await !isAssumed(world))
        }
    }

    @Test("33.1 lapse_tolerance: none where Apple is not asked, none with 0, and half of a short period at most")
    func limits() async throws {
        for mode in [AppStoreMode.offline, .apple, .both] {
            for tolerance in [Int64(0), 60_000] {
                try await atTheEnd({ ($0.mode, $0.lapseTolerance) = (mode, tolerance) }) { world in
                    let isAssumed = mode != .offline && tolerance > 0
                    let first = try await self.isAssumed(world)
                    world.clock.advance(seconds: 60)
                    let second = try await self.isAssumed(world)
                    #expect(first == isAssumed && !second, "\(mode) \(tolerance)")
                }
            }
        }
        // A month of the sandbox has five minutes.
        try await atTheEnd(days: 5.0 / 1440) { world in
            world.clock.advance(seconds: 149)
            let first = try await isAssumed(world)
            world.clock.advance(seconds: 1)
            let second = try await isAssumed(world)
            #expect(first && !second)
        }
    }
}

extension Timestamp {
    fileprivate func later(seconds: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: millisecondsSince1970 + seconds * 1000)
    }
}

@Suite("The settings require_signed_transaction and require_account_token")
struct AccountTokenSettingTests {
    private func receipt() throws -> [UInt8] {
        try LedgerWorld.receipt([
            .consumable(productID: LedgerWorld.coins, transactionID: "1", purchaseDate: MintedWorld.moment)
        ])
    }

    private func signed(_ token: UUID? = nil) throws -> [UInt8] {
        try LedgerWorld.signed("1") { $0.appAccountToken = token?.uuidString.lowercased() }
    }

    @Test("C.10 With require_signed_transaction, a receipt claims nothing new, and a signed transaction needs no token")
    func signedTransaction() async throws {
        try await LedgerWorld.with({ $0.requiresSignedTransaction = true }) { world in
            let refused = try await world.claim("1", try receipt())
            #expect(refused.code == "signed_transaction_needed" && refused.disposition == .retry)
            let restored = try await world.restore(of: "alice", [try receipt()])
            #expect(restored.purchases.map(\.code) == ["signed_transaction_needed"])
            #expect(try await world.claim("1", try signed()).code == "accepted")
            #expect(try await world.entitlement()?.balance == 1)
        }
    }

    @Test("C.10 With require_account_token, a claim needs a token of the customer; one that is unknown counts as none")
    func accountToken() async throws {
        try await LedgerWorld.with({ $0.requiresAccountToken = true }) { world in
            let token = UUID()
            for evidence in [try receipt(), try signed(), try signed(token)] {
                let refused = try await world.claim("1", evidence)
                #expect(refused.code == "account_token_needed" && refused.disposition == .retry)
                let restored = try await world.restore(of: "alice", [evidence])
                #expect(restored.purchases.map(\.code) == ["account_token_needed"])
            }
            #expect(try await world.entitlement() == nil)
            // Once the token is assigned, the same evidence is enough.
            try await world.assign(token, to: "alice")
            #expect(try await world.claim("1", try signed(token)).code == "accepted")
            #expect(try await world.entitlement()?.balance == 1)
            let other = try await world.claim("1", customer: "bob", try signed(token))
            #expect(other.code == "app_account_token_mismatch")
        }
    }

    @Test(
        "C.10 With require_account_token, a claim without a token transfers nothing, and the owner's own one is accepted"
    )
    func owners() async throws {
        try await LedgerWorld.with({ ($0.requiresAccountToken, $0.transfer) = (true, .move) }) { world in
            let token = UUID()
            func pro(_ token: UUID?) throws -> [UInt8] {
                try LedgerWorld.signed("1", product: LedgerWorld.pro) {
                    $0.appAccountToken = token?.uuidString.lowercased()
                }
            }
            try await world.assign(token, to: "alice")
            #expect(try await world.claim("1", product: LedgerWorld.pro, try pro(token)).code == "accepted")
            #expect(try await world.claim("1", product: LedgerWorld.pro, try pro(nil)).code == "accepted")
            _ = try await world.claim("1", product: LedgerWorld.pro, customer: "bob", try pro(nil))
            #expect(try await world.entitlement(LedgerWorld.pro)?.state == .active)
            #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.state != .active)
        }
    }

    @Test("C.10 Both settings are recorded, each under its own name")
    func recorded() async throws {
        for (isSigned, isToken) in [(false, false), (false, true), (true, false), (true, true)] {
            try await TemporaryFolder.with { folder in
                let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
                var app = LedgerWorld.app()
                (app.requiresSignedTransaction, app.requiresAccountToken) = (isSigned, isToken)
                let world = try await LedgerWorld(database, apps: [app])
                let recorded = try await PurchaseLedger.openRecorded(
                    database: database, verifier: try LedgerWorld.verifier(), clock: { world.clock.now })
                #expect(recorded.settings(of: "example") == app)
                try await database.close()
            }
        }
    }
}
