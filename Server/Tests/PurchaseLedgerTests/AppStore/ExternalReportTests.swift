import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("Reports of external purchases, and places among events, on each engine")
struct ExternalReportTests {
    private static func sale(_ id: String) throws -> ExternalLineItem {
        try ExternalLineItem([
            "lineItemId": id, "creationDate": 1, "eventType": "BUY", "productType": "ONE_TIME_BUY",
            "productIdentifier": "com.example.coins", "quantity": 1,
            "amountTaxExclusive": 1, "taxAmount": 0, "amountTaxInclusive": 1, "netAmountTaxExclusive": 1,
            "reportingCurrency": "EUR", "pricingCurrency": "EUR", "taxCountry": "ESP",
        ])
    }

    private static func due(_ world: LedgerWorld) async throws -> ExternalReportDue.Report {
        let work = LedgerWork(.externalPurchase, app: "example", environment: .production, subject: "token")
        return try #require(try await world.ledger.answer(ExternalReportDue(work)))
    }

    private static func state(_ world: LedgerWorld, _ items: String...) async throws {
        _ = try await world.ledger.perform(
            StateExternalPurchase(app: "example", id: "token", lineItems: try items.map { try sale($0) }))
    }

    @Test("What was stated while Apple refused a report is sent, and a report that was refused as it stands is held")
    func refusedMeanwhile() async throws {
        try await LedgerWorld.with { world in
            let token = ExternalPurchase(
                id: "token", bundleID: "com.example.app", tokenType: "SERVICES", createdAt: 1_700_000_000_000,
                expiresAt: 4_102_444_800_000)
            _ = try await world.ledger.perform(
                StateExternalPurchase(app: "example", token: token, isDuplicate: false))
            if world.database is PostgreSQLDatabase {
                // Entries of PostgreSQL have gaps, and those of an audit have none.
                _ = try await world.database.write { connection in
                    try connection.rows("SELECT nextval(pg_get_serial_sequence('journal', 'entry_key'))", []).count
                }
            }
            try await Self.state(world, "first")
            let sent = try await Self.due(world)
            #expect(sent.lineItems.map(\.id) == ["first"] && !sent.isHeld)
            try await Self.state(world, "second")
            func refuse(_ report: ExternalReportDue.Report) async throws {
                try await world.ledger.perform(
                    RecordExternalReport(
                        app: "example", id: "token", .refused(requestID: "r", report.lineItems, "1: wrong")))
            }
            try await refuse(sent)
            let next = try await Self.due(world)
            #expect(next.lineItems.map(\.id) == ["first", "second"] && !next.isHeld)
            try await refuse(next)
            #expect(try await Self.due(world).isHeld)
            try await Self.state(world, "third")
            #expect(try await Self.due(world).isHeld == false)
            try await world.requireConsistency()
        }
    }

    @Test("A reader of events begins after the newest event, after any that it names, or before all")
    func positions() async throws {
        try await LedgerWorld.with { world in
            func position(_ id: String?) async throws -> EventPosition.Answer {
                try await world.ledger.answer(EventPosition(app: "example", id: id))
            }
            #expect(try await position(nil).id == "0")
            for number in 1...3 { _ = try await world.claim("\(number)", try LedgerWorld.signed("\(number)")) }
            let events = try await world.ledger.answer(EventList(app: "example", limit: 100))
            let newest = try #require(events.last)
            #expect(try await position(nil).id == newest.content.id)
            #expect(try await position("0").cursor == 0)
            for event in events {
                let found = try await position(event.content.id)
                #expect(found.cursor == event.cursor && found.newest == newest.cursor)
            }
        }
    }
}
