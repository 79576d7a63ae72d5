import EvidenceMint
import Foundation
import GRDB
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The database cost of one purchase. It is counted, so it does not depend on the speed of the machine.
@Suite("Cost of a purchase", .tags(.everyEngine), .folder)
struct PurchaseCostTests {
    let folder: URL = CurrentWorld.opened()

    @Test(
        "A new purchase takes at most 17 statements, 21 with its order, and reading entitlements 2, whatever the history"
    )
    func statements() async throws {
        let recorder = RecordingDatabase(try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path))
        let world = try await LedgerWorld(recorder)
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        _ = recorder.take()
        _ = try await world.claim("2", try LedgerWorld.signed("2"))
        let plain = recorder.take()
        let order = try await world.order()
        _ = recorder.take()
        _ = try await world.claim("3", order: order.id, try LedgerWorld.signed("3"))
        let ordered = recorder.take()
        _ = try await world.claim("2", try LedgerWorld.signed("2"))
        let replay = recorder.take()
        print("statements: purchase \(plain.count), with order \(ordered.count), replay \(replay.count)")
        for sql in ordered { print("  ", sql.replacing("\n", with: " ").prefix(90)) }
        #expect(plain.count <= 17)
        #expect(ordered.count <= 21)
        for number in 0..<200 {
            _ = try await world.claim("\(9000 + number)", try LedgerWorld.signed("\(9000 + number)"))
        }
        _ = recorder.take()
        _ = try await world.entitlement()
        #expect(recorder.take().count == 2)
        try await world.database.close()
    }

    @Test(
        "A restored receipt costs statements in proportion to its periods, and a renewal the same after 10 and after 200"
    )
    func longSubscriptions() async throws {
        let recorder = RecordingDatabase(try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path))
        let world = try await LedgerWorld(recorder)
        func period(_ number: Int, _ original: String) -> PurchaseTemplate {
            .subscription(
                productID: LedgerWorld.monthly, transactionID: "2000000\(original)\(1000 + number)",
                originalTransactionID: "2000000\(original)1000",
                purchaseDate: MintedWorld.moment.addingTimeInterval(Double(number) * 86_400),
                originalPurchaseDate: MintedWorld.moment,
                expiresDate: MintedWorld.moment.addingTimeInterval(Double(number + 1) * 86_400))
        }
        func restore(_ count: Int, _ original: String) async throws -> (receipt: Int, renewal: Int) {
            let receipt = try LedgerWorld.receipt((0..<count).map { period($0, original) })
            _ = recorder.take()
            let outcome = try await world.restore(of: "c\(original)", [receipt])
            #expect(outcome.purchases.count == count)
            let cost = recorder.take().count
            try await world.observe(try LedgerWorld.receipt([period(count, original)]))
            return (cost, recorder.take().count)
        }
        let (short, long) = (try await restore(10, "77777"), try await restore(200, "88888"))
        print("restore of 10 periods: \(short.receipt) statements, of 200: \(long.receipt); renewal: \(long.renewal)")
        #expect(long.receipt <= 22 * short.receipt && long.renewal == short.renewal)
        try await world.database.close()
    }

    @Test(
        "A customer with 5,000 consumables and ten years of a subscription is one query of the primary key, of few rows"
    )
    func longHistory() async throws {
        let path = folder.appending(path: "assay.sqlite").path
        let recorder = RecordingDatabase(try SQLiteDatabase(path: path))
        let world = try await LedgerWorld(recorder)
        var purchases: [PurchaseTemplate] = (0..<5000).map {
            .consumable(
                productID: LedgerWorld.coins, transactionID: "2\(100_000_000 + $0)",
                purchaseDate: MintedWorld.moment.addingTimeInterval(Double($0)))
        }
        for week in 0..<520 {
            let start = MintedWorld.moment.addingTimeInterval(Double(week) * 604_800)
            purchases.append(
                .subscription(
                    productID: LedgerWorld.monthly, transactionID: "2\(200_000_000 + week)",
                    originalTransactionID: "2200000000", purchaseDate: start,
                    originalPurchaseDate: MintedWorld.moment, expiresDate: start.addingTimeInterval(604_800)))
        }
        for start in stride(from: 0, to: purchases.count, by: 1000) {
            let receipt = try LedgerWorld.receipt(Array(purchases[start..<min(start + 1000, purchases.count)]))
            let outcome = try await world.restore(of: "alice", [receipt])
            #expect(outcome.refused.isEmpty)
        }
        _ = recorder.take()
        #expect(try await world.entitlement(environment: .sandbox)?.balance == 5000)
        let statements = recorder.take()
        // The others read the customer, and what was signed about the subscription.
        #expect(statements.count == 5 && statements.count { $0.contains("FROM entitlements") } == 1)
        let query = try #require(statements.first { $0.contains("FROM entitlements") })
        let (plan, rows) = try await recorder.read(.lists) { connection in
            (
                try connection.rows("EXPLAIN QUERY PLAN " + query, [.integer(1)]).flatMap(\.values),
                try connection.rows(query, [.integer(1)]).count
            )
        }
        #expect(rows == 2)
        #expect(plan.contains(.text("SEARCH entitlements USING PRIMARY KEY (customer_key=?)")), "\(plan)")
        try await world.database.close()
    }

    @Test("33.4 A pass takes as many statements after 400 passes of its product as after 10, and the same for a refund")
    func passes() async throws {
        let path = folder.appending(path: "assay.sqlite").path
        let recorder = RecordingDatabase(try SQLiteDatabase(path: path))
        let world = try await LedgerWorld(recorder)
        let file = try DatabaseQueue(path: path)
        func pass(_ number: Int, isRefunded: Bool = false) throws -> [UInt8] {
            try LedgerWorld.signed("\(300_000 + number)", product: LedgerWorld.pass) {
                $0.purchaseDate = MintedWorld.moment.addingTimeInterval(Double(number))
                $0.originalPurchaseDate = $0.purchaseDate
                guard isRefunded else { return }
                $0.refund(at: MintedWorld.moment.addingTimeInterval(7200))
            }
        }
        func restore(_ numbers: Range<Int>) async throws {
            for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 100) {
                let evidence = try (start..<min(start + 100, numbers.upperBound)).map { try pass($0) }
                let outcome = try await world.restore(of: LedgerWorld.customer, evidence)
                #expect(outcome.refused.isEmpty)
            }
        }
        func cost(_ body: () async throws -> Void) async throws -> (statements: Int, steps: Int) {
            _ = recorder.take()
            try await body()
            let calls = recorder.takeCalls()
            return (calls.count, try StatementCost(of: calls, in: file).steps)
        }
        func costs(_ number: Int) async throws -> [(statements: Int, steps: Int)] {
            let claim = try await cost {
                let outcome = try await world.claim("\(300_000 + number)", try pass(number))
                #expect(outcome.code == "accepted")
            }
            let refund = try await cost { try await world.observe(try pass(number, isRefunded: true)) }
            return [claim, refund]
        }
        try await restore(0..<10)
        let short = try await costs(10)
        try await restore(11..<400)
        let long = try await costs(400)
        print("passes: \(short) after 10, \(long) after 400")
        for (short, long) in zip(short, long) {
            #expect(long.statements == short.statements)
            // Each pass, with its original.
            #expect(long.steps <= short.steps + 400 * 100)
        }
        let access = try await world.entitlement(LedgerWorld.pass)
        let start = MintedWorld.moment.timeIntervalSince1970 * 1000
        // Two of the 401 are refunded, before they began.
        #expect(access?.until == Timestamp(millisecondsSince1970: Int64(start) + 399 * 30 * 86_400_000))
        try await world.requireConsistency()
        try await recorder.close()
    }

    @Test("The offers of a customer take as many statements with 40 subscriptions as with 2")
    func offers() async throws {
        let recorder = RecordingDatabase(try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path))
        let world = try await LedgerWorld(recorder)
        func cost(_ originals: Range<Int>) async throws -> Int {
            for original in originals {
                let period = try LedgerWorld.period("\(5_000 + original)", original: "\(5_000 + original)", from: 0)
                #expect(try await world.claim("\(5_000 + original)", period).code == "accepted")
            }
            _ = recorder.take()
            let found = try await world.ledger.answer(
                OffersOfCustomer(app: "example", customerID: LedgerWorld.customer))
            #expect(found.offers.contains { $0.reason == .subscribed })
            return recorder.take().count
        }
        let (short, long) = (try await cost(0..<2), try await cost(2..<40))
        print("offers: \(short) statements with 2 subscriptions, \(long) with 40")
        #expect(long == short)
        try await world.database.close()
    }

    @Test("A statement, a report and its answer about a token read as much of 2,000 line items that wait as of 200")
    func externalPurchases() async throws {
        let path = folder.appending(path: "assay.sqlite").path
        let recorder = RecordingDatabase(try SQLiteDatabase(path: path))
        let (world, file) = (try await LedgerWorld(recorder), try DatabaseQueue(path: path))
        let ledger = world.ledger
        func state(_ numbers: Range<Int>) async throws {
            let items = try numbers.map { number in
                try ExternalLineItem([
                    "lineItemId": "item-\(number)", "creationDate": 1, "eventType": "BUY",
                    "productType": "ONE_TIME_BUY",
                    "productIdentifier": "coins", "quantity": 1, "amountTaxExclusive": number, "taxAmount": 0,
                    "amountTaxInclusive": number, "netAmountTaxExclusive": number, "reportingCurrency": "EUR",
                    "pricingCurrency": "EUR", "taxCountry": "ESP",
                ])
            }
            _ = try await ledger.perform(StateExternalPurchase(app: "example", id: "token-1", lineItems: items))
        }
        func cost(_ body: () async throws -> Void) async throws -> (statements: Int, steps: Int) {
            _ = recorder.take()
            try await body()
            let calls = recorder.takeCalls()
            return (calls.count, try StatementCost(of: calls, in: file).steps)
        }
        func costs(_ number: Int) async throws -> [(statements: Int, steps: Int)] {
            let stated = try await cost { try await state(number..<number + 1) }
            let work = LedgerWork(.externalPurchase, app: "example", environment: .production, subject: "token-1")
            var items: [ReportedLineItem] = []
            let read = try await cost { items = try await ledger.answer(ExternalReportDue(work))?.lineItems ?? [] }
            #expect(items.count == 200)
            let answered = try await cost {
                let answer = RecordExternalReport.Answer.accepted(requestID: "r\(number)", .lineItems, items)
                try await ledger.perform(RecordExternalReport(app: "example", id: "token-1", answer))
            }
            return [stated, read, answered]
        }
        let token = ExternalPurchase(id: "token-1", bundleID: "com.example.app")
        _ = try await ledger.perform(StateExternalPurchase(app: "example", token: token, isDuplicate: false))
        try await state(1..<200)
        let short = try await costs(200)
        for start in stride(from: 201, to: 2_201, by: 200) { try await state(start..<start + 200) }
        let long = try await costs(2_201)
        print("line items: \(short) with 200 that wait, \(long) with 2,000")
        for (short, long) in zip(short, long) {
            // The answer to a statement has what Apple said last.
            #expect(long.statements <= short.statements + 1)
            // Deeper trees take a few steps more.
            #expect(long.steps <= short.steps * 5 / 4 + 300)
        }
        try await world.requireConsistency()
        try await recorder.close()
    }

    @Test("Pages written to the WAL for each of 2,000 purchases of as many customers, in batches of 32")
    func pages() async throws {
        let path = folder.appending(path: "assay.sqlite").path
        let database = try SQLiteDatabase(path: path)
        let world = try await LedgerWorld(database)
        var claims: [ExaminedSubmission] = []
        for number in 0..<2000 {
            let id = "\(20_000_000 + number)"
            claims.append(
                world.ledger.examine(
                    world.submission(id, customer: "customer \(number * 7919 % 2000)", try LedgerWorld.signed(id))))
        }
        let size = { try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0 }
        let before = (try size(), database.commits.transactions)
        for start in stride(from: 0, to: claims.count, by: 32) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for claim in claims[start..<min(start + 32, claims.count)] {
                    group.addTask { _ = try await world.ledger.perform(ClaimPurchase(claim)) }
                }
                try await group.waitForAll()
            }
        }
        let pages = Double(try size() - before.0) / 4120
        let commits = database.commits.transactions - before.1
        print("pages: \(pages / 2000) per purchase, \(2000 / max(1, commits)) purchases per commit")
        #expect(pages / 2000 < 6)
        try await database.close()
    }
}
