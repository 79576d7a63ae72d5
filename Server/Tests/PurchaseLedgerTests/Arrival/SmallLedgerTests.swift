import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing
import WrittenRules

/// Every history of two events, on the ledger that servers run: enumerated, not sampled.
///
/// After each history the tables equal a rebuild and what the rules give for the values of the purchases, owners and
/// access are those of docs/ledger.md (`WrittenWorld`), and no unit is lost or doubled. `dev/torture.sh worlds` runs
/// them under both settings of `transfer`, and longer ones: `ASSAY_LEDGER_WORLD_EVENTS` is the number of events,
/// `ASSAY_LEDGER_WORLD_MINUTES` when to stop, with histories from everywhere.
@Suite("50.4 Small worlds on the ledger")
struct SmallLedgerTests {
    var folder: URL { CurrentWorld.opened() }

    private static func setting(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    private static let length = setting("ASSAY_LEDGER_WORLD_EVENTS")

    @Test(
        "50.4 Every history of a few events leaves what the documentation says",
        .folder, arguments: length == nil ? [TransferPolicy.deny] : TransferPolicy.allCases)
    func worlds(transfer: TransferPolicy) async throws {
        let (worlds, begin) = (try SmallLedgers(transfer: transfer), ContinuousClock.now)
        let deadline = Self.setting("ASSAY_LEDGER_WORLD_MINUTES").map { begin + .seconds(60 * $0) }
        let histories = worlds.histories(of: Self.length ?? 2)
        // A loop over nothing would agree as well.
        #expect(histories.count >= 700)
        let template = folder.appending(path: "template.sqlite")
        try await worlds.make(template)
        let counts = await withTaskGroup(of: Int.self) { group in
            for worker in 0..<4 {
                let file = folder.appending(path: "\(worker).sqlite")
                group.addTask {
                    var count = 0
                    for place in stride(from: worker, to: histories.count, by: 4) {
                        if let deadline, ContinuousClock.now > deadline { break }
                        // A prime number of steps, so that those of a part come from everywhere.
                        let history = histories[place * 7_919 % histories.count]
                        do {
                            let difference = try await worlds.difference(history, copying: template, to: file)
                            if let difference { Issue.record("\(history): \(difference)") }
                        } catch {
                            Issue.record("\(history): \(error)")
                        }
                        count += 1
                    }
                    return count
                }
            }
            return await group.reduce(into: 0) { $0 += $1 }
        }
        #expect(counts == histories.count || deadline != nil)
        print(
            "small worlds on the ledger (\(transfer)): \(counts) of \(histories.count) histories",
            "in \(ContinuousClock.now - begin)")
    }

    @Test("50.4 A history that the documentation does not describe is found", .folder)
    func planted() async throws {
        let worlds = try SmallLedgers(transfer: .deny, ignoresClaims: true)
        let template = folder.appending(path: "template.sqlite")
        try await worlds.make(template)
        let history = [LedgerEvent.world(WorldEvent(.claimed, product: 0, customer: 0))]
        let file = folder.appending(path: "0.sqlite")
        #expect(try await worlds.difference(history, copying: template, to: file) != nil)
    }
}

/// An event of a small world on the ledger: those of `WorldEvent` about subscriptions, and those of a consumable of
/// three units.
enum LedgerEvent: Sendable, Hashable, CustomStringConvertible {
    case world(WorldEvent)
    case coins(Coins, customer: Int)

    enum Coins: String, Sendable, CaseIterable {
        /// The purchase arrives without a claim.
        case bought
        /// It arrives with a refund.
        case refunded
        case claimed
        /// It is claimed for the newest order.
        case claimedForOrder
        case ordered
        /// The newest order is fulfilled; cancelled.
        case fulfilled
        case cancelled
        /// One unit is used.
        case consumed
        /// An operator gives it to the customer.
        case moved
        /// An operator revokes it.
        case revoked
        /// The customer is erased.
        case erased

        var isOfNobody: Bool { [.bought, .refunded, .fulfilled, .cancelled].contains(self) }
    }

    /// The kinds of evidence that can be signed here. A receipt does not state upgrades, and a grace period without its
    /// end is a notification.
    static let all: [LedgerEvent] =
        WorldEvent.all.filter { ![.cancelled, .graced].contains($0.kind) }.map { .world($0) }
        + Coins.allCases.flatMap { kind in
            (kind.isOfNobody ? [0] : [0, 1]).map { LedgerEvent.coins(kind, customer: $0) }
        }

    /// The same event with the products or the customers exchanged.
    func exchanged(products: Bool, customers: Bool) -> LedgerEvent {
        switch self {
        case .world(let event): .world(event.exchanged(products: products, customers: customers))
        case .coins(let kind, let customer):
            .coins(kind, customer: customers && !kind.isOfNobody ? 1 - customer : customer)
        }
    }

    var description: String {
        switch self {
        case .world(let event): event.description
        case .coins(let kind, let customer): "coins \(kind)\(kind.isOfNobody ? "" : " \(SmallLedgers.names[customer])")"
        }
    }
}

/// The histories, and the ledgers on which they happen.
struct SmallLedgers: Sendable {
    static let names = ["A", "B"]
    private static let products = [LedgerWorld.monthly, LedgerWorld.yearly]
    private static let units: Int64 = 3
    private static let coinsID = "31"
    /// The day on which everything happens: after all evidence about the subscriptions was signed.
    private static let now = 70

    private let app: RegisteredApp
    private let claimsTransfer: Bool
    /// A wrong description, to show that the comparison finds it.
    private let ignoresClaims: Bool
    private let evidence: [WorldEvent: [UInt8]]
    private let coins: [UInt8]
    private let refunded: [UInt8]

    init(transfer: TransferPolicy, ignoresClaims: Bool = false) throws {
        var app = LedgerWorld.app()
        (app.transfer, app.lapseTolerance) = (transfer, 0)
        (self.app, self.ignoresClaims, claimsTransfer) = (app, ignoresClaims, transfer == .move)
        var evidence: [WorldEvent: [UInt8]] = [:]
        for event in WorldEvent.all {
            let kind: WorldEvent.Kind =
                event.kind == .claimed ? .bought : event.kind == .renewalClaimed ? .renewed : event.kind
            guard let written = WrittenStatement(kind), !written.isReceipt else { continue }
            evidence[event] = try Self.signed(written, event.product)
        }
        self.evidence = evidence
        coins = try Self.coins { _ in }
        refunded = try Self.coins {
            ($0.revocationDate, $0.revocationReason) = (Self.date(Self.now), 0)
            $0.signedDate = Self.date(Self.now).addingTimeInterval(1)
        }
    }

    private static func date(_ day: Int) -> Date { MintedWorld.moment.addingTimeInterval(3600 + Double(day) * 86_400) }

    private static func time(_ day: Int) -> Timestamp {
        Timestamp(millisecondsSince1970: Int64(date(day).timeIntervalSince1970 * 1000))
    }

    private static func id(_ product: Int, _ transaction: Int) -> String { "\(product + 1)\(transaction + 1)" }

    private static func token(_ product: Int) -> UUID {
        UUID(uuid: (7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(product)))
    }

    /// Bought now, so that an order that was created now can be paid with it.
    private static func coins(_ change: (inout SignedTransactionTemplate) -> Void) throws -> [UInt8] {
        try LedgerWorld.signed(coinsID) {
            $0.quantity = units
            ($0.purchaseDate, $0.originalPurchaseDate, $0.signedDate) = (date(now), date(now), date(now))
            change(&$0)
        }
    }

    private static func signed(_ written: WrittenStatement, _ product: Int) throws -> [UInt8] {
        let days = WrittenStatement.days(of: written.transaction)
        let id = id(product, written.transaction)
        let sold = products[WrittenStatement.product(of: written.transaction, startingWith: product)]
        return try LedgerWorld.signed(id, product: sold, kind: .autoRenewableSubscription) { template in
            template.originalTransactionID = self.id(product, 0)
            template.webOrderLineItemID = "line-\(id)"
            (template.purchaseDate, template.originalPurchaseDate) = (date(days.start), date(0))
            (template.expiresDate, template.signedDate) = (date(days.end), date(written.stamp))
            template.revocationDate = written.refundedAt.map(date)
            template.revocationReason = written.refundedAt.map { _ in 0 }
            template.isUpgraded = written.isFlagged ? true : nil
            template.appAccountToken = written.token.map { token in
                self.token(token == .ofProduct ? product : 1 - product).uuidString
            }
        }
    }

    // MARK: Histories

    /// Of the histories that differ only in the names of customers and products, the first.
    func histories(of length: Int) -> [[LedgerEvent]] {
        let (events, exchanges) = (LedgerEvent.all, [(false, true), (true, false), (true, true)])
        let numbers = Dictionary(uniqueKeysWithValues: events.enumerated().map { ($1, $0) })
        let images = exchanges.map { exchange in
            events.map { numbers[$0.exchanged(products: exchange.0, customers: exchange.1)] ?? 0 }
        }
        var paths: [[Int]] = [[]]
        for _ in 0..<length { paths = paths.flatMap { path in events.indices.map { path + [$0] } } }
        return paths.filter { path in
            images.allSatisfy { image in !path.map { image[$0] }.lexicographicallyPrecedes(path) }
        }.map { $0.map { events[$0] } }
    }

    // MARK: A ledger

    /// Makes the ledger in which nothing has happened.
    func make(_ file: URL) async throws {
        let database = try SQLiteDatabase(path: file.path)
        _ = try await world(database)
        try await database.close()
    }

    private func world(_ database: SQLiteDatabase) async throws -> LedgerWorld {
        let clock = TestClock()
        clock.advance(days: Int64(Self.now))
        return try await LedgerWorld(database, clock: clock, apps: [app])
    }

    /// What is wrong after a history; `nil` if nothing is.
    func difference(_ history: [LedgerEvent], copying template: URL, to file: URL) async throws -> String? {
        for path in [file.path, file.path + "-wal", file.path + "-shm"]
        where FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
        try FileManager.default.copyItem(at: template, to: file)
        let database = try SQLiteDatabase(path: file.path)
        let world = try await world(database)
        var written = WrittenWorld(claimsTransfer: claimsTransfer)
        var money = Money()
        for (place, event) in history.enumerated() {
            do {
                try await happen(event, place, world, &money)
            } catch is LedgerRefusal {
                // The operation was refused, and changes nothing.
            }
            if case .world(let event) = event, !ignoresClaims || event.kind != .claimed { written.happen(event) }
        }
        let difference = try await difference(of: world, from: written, money)
        try await database.close()
        return difference
    }

    /// What a history does with the consumable.
    private struct Money {
        var order: UUID?
        /// Units that were used, or delivered with an order.
        var taken: Int64 = 0
        /// Whether an operator revoked the purchase.
        var isRevoked = false
        /// The customers who were erased.
        var erased: Set<Int> = []
    }

    private func happen(_ event: LedgerEvent, _ place: Int, _ world: LedgerWorld, _ money: inout Money) async throws {
        switch event {
        case .world(let event): try await happen(event, world)
        case .coins(let kind, let customer):
            try await happen(kind, Self.names[customer], place, world, &money)
            if kind == .erased { money.erased.insert(customer) }
        }
    }

    private func happen(_ event: WorldEvent, _ world: LedgerWorld) async throws {
        let (name, ledger) = (Self.names[event.customer], world.ledger)
        switch event.kind {
        case .claimed, .renewalClaimed:
            guard let evidence = evidence[event] else { return }
            let transaction = event.kind == .claimed ? 0 : 1
            _ = try await world.claim(
                Self.id(event.product, transaction), product: Self.products[event.product], customer: name, evidence)
        case .assigned:
            _ = try await ledger.perform(AssignToken(app: app.id, customerID: name, token: Self.token(event.product)))
        case .moved:
            _ = try await ledger.perform(
                MovePurchase(app: app.id, transactionID: Self.id(event.product, 0), to: name, reason: "support"))
        case .merged:
            // A merge needs the customer; the documentation's merge does not.
            _ = try await ledger.perform(AssignToken(app: app.id, customerID: name, token: UUID()))
            try await ledger.perform(
                MergeCustomers(app: app.id, customerID: name, into: Self.names[1 - event.customer]))
        default:
            guard let evidence = evidence[event] else { return }
            try await world.observe(evidence)
        }
    }

    private func happen(
        _ kind: LedgerEvent.Coins, _ name: String, _ place: Int, _ world: LedgerWorld, _ money: inout Money
    ) async throws {
        let ledger = world.ledger
        switch kind {
        case .bought: try await world.observe(coins)
        case .refunded: try await world.observe(refunded)
        case .claimed: _ = try await world.claim(Self.coinsID, customer: name, coins)
        case .claimedForOrder: _ = try await world.claim(Self.coinsID, customer: name, order: money.order, coins)
        case .ordered: money.order = try await world.order(name, quantity: Self.units).id
        case .fulfilled:
            guard let order = money.order else { return }
            let outcome = try await ledger.perform(FulfilOrder(app: app.id, orderID: order))
            if !outcome.isReplayed { money.taken += outcome.units ?? 0 }
        case .cancelled:
            guard let order = money.order else { return }
            _ = try await ledger.perform(CancelOrder(app: app.id, orderID: order))
        case .consumed:
            _ = try await world.consume(1, "use-\(place)", of: name)
            money.taken += 1
        case .moved:
            _ = try await ledger.perform(
                MovePurchase(app: app.id, transactionID: Self.coinsID, to: name, reason: "support"))
        case .revoked:
            _ = try await ledger.perform(
                RevokeByHand(
                    app: app.id, customerID: name, .purchase(transactionID: Self.coinsID, environment: nil),
                    reason: "support"))
            money.isRevoked = true
        case .erased:
            _ = try await ledger.perform(EraseCustomer(app: app.id, customerID: name, reason: "asked"))
        }
    }

    // MARK: What is compared

    private func difference(
        of world: LedgerWorld, from written: WrittenWorld, _ money: Money
    ) async throws -> String? {
        let findings = try await world.ledger.audit().findings
        guard findings.isEmpty else { return "\(findings)" }
        // What is left of an erased customer is checked by the audit.
        guard money.erased.isEmpty else { return nil }
        for customer in 0..<2 {
            let expected = written.access(of: customer)
            for (place, day) in WrittenStatement.changes.enumerated() {
                let answer = try await world.ledger.answer(
                    EntitlementsOfCustomer(app: app.id, customerID: Self.names[customer], at: Self.time(day)))
                // The name of a merged customer answers for the other one.
                guard answer.mergedInto == nil else { break }
                for product in 0..<2 {
                    let found = answer.entitlements.first { $0.productID == Self.products[product] }
                    let until = found?.state == .active ? found?.until : nil
                    guard until != expected[product][place].until.map({ Self.time($0) }) else { continue }
                    return """
                        customer \(Self.names[customer]), product \(product), day \(day): \
                        \(until.map { "active until \($0)" } ?? found?.state.rawValue ?? "nothing"), \
                        expected \(expected[product][place])
                        """
                }
            }
        }
        return try await difference(ofUnits: money, world)
    }

    /// No unit is lost or doubled: what the owner has left and what was taken are the purchase, or nothing is left.
    private func difference(ofUnits money: Money, _ world: LedgerWorld) async throws -> String? {
        var (left, isOwned) = (Int64(0), false)
        var seen: Set<String> = []
        for name in Self.names {
            let answer = try await world.ledger.answer(EntitlementsOfCustomer(app: app.id, customerID: name))
            // Both names are of one customer after a merge.
            guard seen.insert(answer.mergedInto ?? name).inserted else { continue }
            let entitlement = answer.entitlements.first { $0.productID == LedgerWorld.coins }
            left += entitlement?.balance ?? 0
            let held = try await world.ledger.answer(
                PurchasesOfCustomer(app: app.id, customerID: name, limit: 10)
            ).entries.first { $0.transactionID == Self.coinsID }
            if let held, held.withdrawal == nil { isOwned = true }
        }
        let expected = isOwned && !money.isRevoked ? Self.units - money.taken : 0
        return left == expected ? nil : "\(left) units are left of \(Self.units), and \(money.taken) were taken"
    }
}
