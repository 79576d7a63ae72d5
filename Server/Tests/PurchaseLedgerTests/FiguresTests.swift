import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

/// The figures of rows, without a ledger.
@Suite("55 Figures")
struct FiguresTests {
    private static func day(_ day: Double) -> Timestamp { Timestamp(millisecondsSince1970: Int64(day * 86_400_000)) }

    private static func period(
        _ id: String, _ start: Double, _ end: Double, _ product: String = "gold",
        _ change: (inout ExportedPurchase) -> Void = { _ in }
    ) -> ExportedPurchase {
        var row = ExportedPurchase(
            id, original: "1", product: product, environment: .production, kind: .autoRenewable, knownAt: day(start))
        (row.purchasedAt, row.expiresAt) = (day(start), day(end))
        change(&row)
        return row
    }

    /// Rows of one original, and their figures in the ten days until day 10, 20, 30 and 40.
    struct Case: Sendable, CustomTestStringConvertible {
        private static let none: [Int64] = [0, 0, 0, 0]

        let testDescription: String
        let rows: [ExportedPurchase]
        var product: String?
        var active: [Int64] = Self.none, grace: [Int64] = Self.none, retry: [Int64] = Self.none
        var trials: [Int64] = Self.none, conversions: [Int64] = Self.none, refunds: [Int64] = Self.none
        var churned: [ExportedPurchase.EndReason?] = [nil, nil, nil, nil]
    }

    static let cases: [Case] = [
        Case(
            testDescription: "a trial, converted, renewed and cancelled",
            rows: [
                period("1", 1, 8) { $0.offerMode = "FREE_TRIAL" }, period("2", 8, 15),
                period("3", 15, 22) { $0.endReason = .voluntary },
            ], active: [1, 1, 0, 0], trials: [1, 0, 0, 0], conversions: [1, 0, 0, 0],
            churned: [nil, nil, .voluntary, nil]),
        Case(
            testDescription: "introductory periods are one trial, and a renewal 5 minutes late goes on",
            rows: [
                period("1", 1, 8) { $0.offerType = 1 }, period("2", 8, 15) { $0.offerType = 1 },
                period("3", 15 + 5 / 1440, 45),
            ], active: [1, 1, 1, 1], trials: [1, 0, 0, 0], conversions: [0, 1, 0, 0]),
        Case(
            testDescription: "a renewal 6 minutes late is a return",
            rows: [period("1", 1, 8), period("2", 8 + 6 / 1440, 45)],
            active: [1, 1, 1, 1], churned: [.newsMissing, nil, nil, nil]),
        Case(
            testDescription: "grace, retry, then the price is collected",
            rows: [
                period("1", 1, 8) { ($0.graceUntil, $0.retryUntil) = (day(15), day(25)) }, period("2", 25, 45),
            ], active: [1, 0, 1, 1], grace: [1, 0, 0, 0], retry: [0, 1, 0, 0]),
        Case(
            testDescription: "a retry that fails ends with the retry",
            rows: [period("1", 1, 8) { ($0.retryUntil, $0.endReason) = (day(25), .billing) }],
            retry: [1, 1, 0, 0], churned: [nil, nil, .billing, nil]),
        Case(
            testDescription: "a refund ends access when it is made, also a grace period that would have followed",
            rows: [
                period("1", 1, 28) { ($0.revokedAt, $0.graceUntil, $0.endReason) = (day(12), day(40), .refunded) }
            ], active: [1, 0, 0, 0], refunds: [0, 1, 0, 0], churned: [nil, .refunded, nil, nil]),
        Case(
            testDescription: "a refund of an earlier period ends nothing",
            rows: [period("1", 1, 8) { $0.revokedAt = day(12) }, period("2", 8, 45)], active: [1, 1, 1, 1],
            refunds: [0, 1, 0, 0]),
        Case(
            testDescription: "a period inside of another one",
            rows: [period("1", 1, 35) { $0.endReason = .price }, period("2", 5, 12)], active: [1, 1, 1, 0],
            churned: [nil, nil, nil, .price]),
        Case(
            testDescription: "an upgrade does not end the subscription",
            rows: [period("1", 1, 28) { $0.upgradedAt = day(12) }, period("2", 12, 45, "pro")], active: [1, 1, 1, 1]),
        Case(
            testDescription: "it ends the product",
            rows: [period("1", 1, 28) { $0.upgradedAt = day(12) }, period("2", 12, 45, "pro")], product: "gold",
            active: [1, 0, 0, 0], churned: [nil, .productChanged, nil, nil]),
        Case(
            testDescription: "copies, shared purchases and other kinds are no subscriptions",
            rows: [
                period("1", 1, 45) { $0.ownership = .shared }, period("2", 1, 45) { $0.copyOf = "0" },
                period("3", 1, 45) { $0.kind = .nonRenewing },
            ]),
    ]

    @Test("55 Subscriptions", arguments: cases)
    func subscriptions(_ each: Case) {
        let periods = FigurePeriods(bounds: [0, 10, 20, 30, 40].map { Self.day($0) })
        for rows in [each.rows, each.rows.reversed()] {
            var fold = FiguresFold(periods, product: each.product)
            fold.add(rows)
            let found = fold.figures
            #expect(found.map { $0[.activeSubscriptions] } == each.active)
            #expect(found.map { $0[.inGrace] } == each.grace)
            #expect(found.map { $0[.inRetry] } == each.retry)
            #expect(found.map { $0[.trials] } == each.trials)
            #expect(found.map { $0[.conversions] } == each.conversions)
            #expect(found.map { $0[.refunds] } == each.refunds)
            #expect(found.map(\.churned) == each.churned.map { $0.map { [$0: 1] } ?? [:] })
        }
    }

    @Test("55 Money is what Apple signed: without a price there are units only")
    func money() {
        var rows = ["USD", "JPY", "KWD", "USD"].enumerated().map { place, currency in
            Self.period("\(place)", 1, 2) {
                ($0.kind, $0.expiresAt, $0.quantity) = (.consumable, nil, 2)
                ($0.amount, $0.currency, $0.storefront) = (1_230_000, currency, place == 0 ? "USA" : nil)
            }
        }
        rows[3].amount = nil
        var fold = FiguresFold(FigurePeriods(bounds: [Self.day(0), Self.day(10)]))
        for row in rows { fold.add([row]) }
        #expect(fold.figures[0][.units] == 8 && fold.figures[0][.activeSubscriptions] == 0)
        let sums = fold.figures[0].sums.map { "\($0.price.currency) \($0.price.storefront) \($0.amount)" }
        #expect(sums == ["JPY  1230", "KWD  1230.000", "USD USA 1230.00"])
        #expect([4990, -5, 1_000_001].map { PurchaseFigures.amount($0, "EUR") } == ["4.99", "-0.005", "1000.001"])
        #expect(PurchaseFigures.amount(1500, "JPY") == "1.5")
    }

    @Test("55 Periods are days or calendar months; the last one ends now, and a range in the future is whole")
    func bounds() throws {
        func bounds(_ from: String, _ to: String, _ step: FigurePeriods.Step, now: String) throws -> [String]? {
            FigurePeriods(
                from: try #require(Timestamp(from)), to: try #require(Timestamp(to)), by: step,
                now: try #require(Timestamp(now)))?.bounds.map { "\($0)".replacing("T00:00:00Z", with: "") }
        }
        let (first, last) = ("2026-01-30T05:00:00Z", "2026-03-02T00:00:00Z")
        #expect(
            try bounds(first, last, .month, now: "2027-01-01T00:00:00Z")
                == ["2026-01-30", "2026-02-01", "2026-03-01", "2026-03-03"])
        #expect(
            try bounds(first, last, .day, now: "2026-01-31T12:00:00Z")
                == ["2026-01-30", "2026-01-31", "2026-01-31T12:00:00Z"])
        #expect(try bounds(first, last, .day, now: "2025-01-01T00:00:00Z")?.count == 33)
        #expect(try bounds(last, first, .day, now: "2027-01-01T00:00:00Z") == nil)
        #expect(try bounds("1990-01-01T00:00:00Z", last, .day, now: "2027-01-01T00:00:00Z") == nil)
    }
}

/// The rows of exports, from a ledger.
@Suite("55 Exports", .ledger)
struct ExportTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private func rows(_ environment: AppStoreEnvironment? = nil) async throws -> [String: ExportedPurchase] {
        let found = Collected<ExportedPurchase>()
        try await world.ledger.answer(
            PurchaseExport(app: "example", environment: environment) { found.add($0) })
        return Dictionary(uniqueKeysWithValues: found.all.map { ($0.transactionID, $0) })
    }

    @Test("55 A row has what became of its transaction; the report counts the same rows")
    func purchases() async throws {
        func date(_ day: Double) -> Date { MintedWorld.moment.addingTimeInterval(3600 + day * 86_400) }
        _ = try await world.claim("901", try LedgerWorld.period("901", from: 0))
        try await world.observe(try LedgerWorld.period("902", from: 30))
        let ended = LedgerWorld.template("902", product: LedgerWorld.monthly) { $0.originalTransactionID = "900" }
        var renewal = RenewalInfoTemplate(transaction: ended)
        (renewal.signedDate, renewal.gracePeriodExpiresDate) = (date(60.1), date(70))
        (renewal.isInBillingRetryPeriod, renewal.autoRenewStatus) = (true, 1)
        try await world.observe(try MintedWorld.mint(renewal))
        _ = try await world.claim("5", customer: "bob", try LedgerWorld.signed("5") { $0.quantity = 3 })
        try await world.observe(
            try LedgerWorld.signed("5") {
                ($0.quantity, $0.revocationDate, $0.signedDate) = (3, date(2), date(2))
                $0.revocationPercentage = 33_334
            })
        try await world.observe(try LedgerWorld.signed("6") { $0.environment = "Sandbox" })
        _ = try await world.claim("7", customer: "eve", try LedgerWorld.signed("7"))
        try await world.erase("eve")
        try await world.merge("bob", into: "carol")

        let found = try await rows()
        #expect(found.keys.sorted() == ["5", "6", "901", "902"], "nothing is left of an erased purchase")
        #expect(try await rows(.production).keys.sorted() == ["5", "901", "902"])
        let (coins, first, last) = (try #require(found["5"]), try #require(found["901"]), try #require(found["902"]))
        #expect(coins.customerID == "carol" && coins.kind == .consumable && coins.quantity == 3)
        #expect(coins.refundedQuantity == 1 && coins.revokedAt == Timestamp(date(2)) && coins.amount == 990)
        #expect(first.customerID == "alice" && first.graceUntil == nil && first.originalTransactionID == "900")
        #expect(last.expiresAt == Timestamp(date(60)) && last.graceUntil == Timestamp(date(70)))
        #expect(last.retryUntil == Timestamp(date(120)))
        #expect(
            [59, 65, 80, 121].map { last.state(at: Timestamp(date($0))) } == [
                "active", "in_grace", "in_retry", "expired",
            ])

        let bounds = [-1, 31, 61, 80, 130].map { Timestamp(date($0)) }
        var report = PurchaseReport(app: "example", periods: FigurePeriods(bounds: bounds))
        let fold = try #require(try await world.ledger.answer(report))
        var own = FiguresFold(report.periods)
        for rows in Dictionary(
            grouping: found.values.filter { $0.environment == .production }, by: \.originalTransactionID
        ).values {
            own.add(rows)
        }
        #expect(fold.figures == own.figures && fold.products == own.products)
        #expect(
            fold.figures.map { $0[.activeSubscriptions] } == [1, 1, 0, 0]
                && fold.figures.map { $0[.inRetry] } == [0, 0, 1, 0])
        #expect(fold.figures[0][.units] == 5 && fold.figures[0].gross.values.reduce(0, +) == 2970)
        #expect(fold.figures[0][.refunds] == 1 && fold.figures[3].churned == [.newsMissing: 1])
        report.environment = .sandbox
        #expect(try await world.ledger.answer(report)?.figures[0][.units] == 1)
        (report.environment, report.mostOriginals) = (.production, 1)
        #expect(try await world.ledger.answer(report) == nil, "two originals are more than one")
    }

    @Test("55 More originals than a page has are each read once, and entitlements are those of the customers")
    func pages() async throws {
        for number in 1...201 {
            try await world.observe(try LedgerWorld.signed("\(1000 + number)"))
        }
        _ = try await world.claim("1201", customer: "zoe", try LedgerWorld.signed("1201"))
        _ = try await world.claim("3", customer: "bob", try LedgerWorld.signed("3", product: LedgerWorld.pro))
        try await world.merge("bob", into: "ann")
        let found = try await rows()
        #expect(found.count == 202 && found["1201"]?.customerID == "zoe" && found["1200"]?.customerID == nil)
        let entitlements = Collected<EntitlementExport.Row>()
        try await world.ledger.answer(
            EntitlementExport(app: "example", environment: .production) { entitlements.add([$0]) })
        let all = entitlements.all.sorted { $0.customerID < $1.customerID }
        #expect(all.map(\.customerID) == ["ann", "zoe"])
        #expect(all.first?.originalTransactionID == "3" && all.first?.entitlement.state == .active)
        #expect(all.last?.entitlement.balance == 1)
    }
}

/// What a closure was called with.
private final class Collected<Element: Sendable>: Sendable {
    private let found = Mutex<[Element]>([])

    var all: [Element] { found.withLock { $0 } }

    func add(_ more: [Element]) { found.withLock { $0 += more } }
}
