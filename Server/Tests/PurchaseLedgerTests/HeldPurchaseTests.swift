import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Purchases that nobody owns, in `GET /v1/purchases?owner=none`.
@Suite("Held purchases")
struct HeldPurchaseTests {
    var world: LedgerWorld { CurrentWorld.opened() }

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

    @Test(
        "28.2 Held purchases are listed, the last seen first, on pages of every size, until somebody owns them",
        .ledger)
    func pages() async throws {
        for number in 1...6 {
            try await world.observe(
                try LedgerWorld.signed("\(number)") { $0.environment = number % 3 == 0 ? "Sandbox" : "Production" })
        }
        _ = try await world.claim("7", try LedgerWorld.signed("7"))
        try await world.observe(try LedgerWorld.period("8", original: "8", product: LedgerWorld.monthly, from: 0))
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
        try await world.assign(token, to: "bob")
        #expect(try await Self.ids(world, limit: 3) == ["8", "6", "3", "2", "1"])
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
            try await world.erase("alice")
            #expect(try await Self.ids(world, limit: 4) == ["3", "1"])
        }
    }
}

/// Writes that meet the purchases of many other customers.
@Suite("Evidence of many owners", .ledger)
struct ForeignOwnerTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static let owners = 64

    /// Gives each owner a purchase.
    private func pieces(_ world: LedgerWorld) async throws -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        for number in 0..<Self.owners {
            let piece = try LedgerWorld.signed("\(1000 + number)")
            #expect(try await world.claim("\(1000 + number)", customer: "owner \(number)", piece).code == "accepted")
            pieces.append(piece)
        }
        return pieces
    }

    @Test("D.1 A restore and an import that meet the purchases of 64 other customers are answered on every engine")
    func manyOwners() async throws {
        let pieces = try await pieces(world)
        let restored = try await world.restore(of: "mallory", pieces)
        #expect(restored.purchases.map(\.code) == pieces.map { _ in "already_claimed" })
        let rows = pieces.enumerated().map { number, piece in
            world.ledger.examine(ImportSubmission(customerID: "newcomer \(number)", evidence: [piece]), app: "example")
        }
        let imported = try await world.ledger.perform(
            ImportPurchases(app: "example", isAnnounced: false, consumables: .balance, rows))
        #expect(imported.map(\.code) == pieces.map { _ in "already_claimed" })
        for number in 0..<Self.owners {
            #expect(try await world.entitlement(of: "owner \(number)")?.balance == 1)
        }
    }

    @Test("D.1 A receipt with the purchases of 64 other customers, who were merged since, is answered on every engine")
    func mergedOwners() async throws {
        let purchases = (0..<Self.owners).map { number in
            PurchaseTemplate.consumable(
                productID: LedgerWorld.coins, transactionID: "\(2000 + number)", purchaseDate: MintedWorld.moment)
        }
        for (number, purchase) in purchases.enumerated() {
            _ = try await world.claim(
                "\(2000 + number)", customer: "owner \(number)", try LedgerWorld.receipt([purchase]))
        }
        for number in 0..<Self.owners where number % 2 == 1 {
            try await world.merge("owner \(number)", into: "owner \(number - 1)")
        }
        let receipts = [
            try LedgerWorld.receipt(purchases), try LedgerWorld.receipt(purchases.reversed()),
        ]
        let restored = try await world.restore(of: "mallory", receipts)
        #expect(restored.purchases.map(\.code) == purchases.map { _ in "already_claimed" })
        let imported = try await world.ledger.perform(
            ImportPurchases(
                app: "example", isAnnounced: false, consumables: .balance,
                receipts.map {
                    world.ledger.examine(ImportSubmission(customerID: "newcomer", evidence: [$0]), app: "example")
                }))
        #expect(imported.map(\.code) == ["already_claimed", "already_claimed"])
    }
}
