import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Purchases that nobody owns, in `GET /v1/purchases?owner=none`.
@Suite("Held purchases")
struct HeldPurchaseTests {
    /// The ids of all pages of a limit, and of how many pages.
    private static func ids(
        _ world: LedgerWorld, app: String = "example", _ filter: HeldPurchaseFilter = HeldPurchaseFilter(), limit: Int
    ) async throws -> [String] {
        var ids: [String] = []
        var before = Int64.max
        while true {
            let page = try await world.ledger.answer(
                HeldPurchases(app: app, filter: filter, before: before, limit: limit))
            #expect(page.entries.count <= limit)
            #expect(page.entries.allSatisfy { $0.customerID == nil && $0.ownerReason == nil })
            ids += page.entries.map(\.transactionID)
            guard let next = page.next else { return ids }
            #expect(next < before)
            before = next
        }
    }

    @Test("28.2 Held purchases are listed, the last seen first, on pages of every size, until somebody owns them")
    func pages() async throws {
        try await LedgerWorld.with { world in
            for number in 1...6 {
                try await world.observe(
                    try LedgerWorld.signed("\(number)") { $0.environment = number % 3 == 0 ? "Sandbox" : "Production" })
            }
            _ = try await world.claim("7", try LedgerWorld.signed("7"))
            try await world.observe(
                try LedgerWorld.period("8", original: "8", product: LedgerWorld.monthly, from: 0))
            for limit in 1...8 {
                #expect(try await Self.ids(world, limit: limit) == ["8", "6", "5", "4", "3", "2", "1"], "\(limit)")
            }
            for environment in [AppStoreEnvironment.production, .sandbox, .xcode, .other("Elsewhere")] {
                let expected =
                    switch environment {
                    case .production: ["8", "5", "4", "2", "1"]
                    case .sandbox: ["6", "3"]
                    default: [String]()
                    }
                let filter = HeldPurchaseFilter(environment: environment)
                #expect(try await Self.ids(world, filter, limit: 2) == expected)
            }
            for (product, expected) in [
                (LedgerWorld.monthly, ["8"]), (LedgerWorld.pro, []), ("com.example.app.never", []),
            ] {
                #expect(try await Self.ids(world, HeldPurchaseFilter(productID: product), limit: 3) == expected)
            }
            // A claim and a token give them an owner.
            _ = try await world.claim("5", try LedgerWorld.signed("5"))
            let token = UUID()
            try await world.observe(
                try LedgerWorld.signed("4") {
                    $0.appAccountToken = token.uuidString.lowercased()
                    $0.signedDate = $0.signedDate?.addingTimeInterval(60)
                })
            #expect(try await Self.ids(world, limit: 3) == ["8", "6", "4", "3", "2", "1"])
            _ = try await world.ledger.perform(AssignToken(app: "example", customerID: "bob", token: token))
            #expect(try await Self.ids(world, limit: 3) == ["8", "6", "3", "2", "1"])
        }
    }

    @Test("28.2 A held purchase is listed with the app of its bundle, and what an erasure keeps is not listed")
    func apps() async throws {
        var other = RegisteredApp(id: "other", bundleIDs: ["com.example.other"])
        other.products = [LedgerWorld.coins: RegisteredProduct(kind: .consumable)]
        let apps = [LedgerWorld.app(), other]
        try await TestEngine.withDatabases { database in
            let world = try await LedgerWorld(database, apps: apps)
            for number in 1...6 {
                try await world.observe(
                    try LedgerWorld.signed("\(number)") {
                        if number % 2 == 0 { $0.bundleID = "com.example.other" }
                    })
            }
            for limit in 1...4 {
                #expect(try await Self.ids(world, limit: limit) == ["5", "3", "1"])
                #expect(try await Self.ids(world, app: "other", limit: limit) == ["6", "4", "2"])
            }
            _ = try await world.claim("5", customer: "alice", try LedgerWorld.signed("5"))
            _ = try await world.ledger.perform(EraseCustomer(app: "example", customerID: "alice", reason: "asked"))
            #expect(try await Self.ids(world, limit: 4) == ["3", "1"])
        }
    }
}
