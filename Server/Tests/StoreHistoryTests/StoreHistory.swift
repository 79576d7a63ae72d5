import AppStoreSimulator
import ExpectedEntitlements
import Foundation
import PurchaseLedger
import PurchaseVerification
import ServerTestSupport
import Synchronization
import TestSupport

/// A store and a ledger, between which evidence is lost, repeated and delayed, and the expected entitlements of every
/// customer.
struct StoreHistory: Sendable {
    private(set) var counts = HistoryCounts()
    private(set) var store: AppStore
    private(set) var expected: ExpectedEntitlements
    private var random: SeededGenerator
    private let evidence: StoreEvidence
    private let server: HistoryServer
    /// Evidence on its way.
    private var delayed: [HistoryDelivery] = []
    /// Evidence with facts that later evidence does not have.
    private var irreplaceable: [HistoryDelivery] = []
    private var transactionIDs: [String] = []
    private var kinds: Set<StoreEvent.Kind> = []
    private var eventCount = 0
    private var tokensAreKnown = false
    /// The lots of which the server knows the current state.
    private var synchronized: [String: StoreTransaction] = [:]

    /// Runs a history in a new folder.
    static func with(seed: UInt64, _ body: (StoreHistory) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-history-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            // A leftover folder in the temporary folder does no harm.
            try? FileManager.default.removeItem(at: folder)
        }
        var rules = ExpectedEntitlements.Rules()
        rules.claimsTransfer = seed % 2 == 0
        rules.isShortfallDebt = seed % 4 >= 2
        rules.passes = try HistoryCatalog.passes()
        let start = HistoryCatalog.start
        let server = try await HistoryServer(
            path: folder.appending(path: "assay.sqlite").path, rules: rules, start: start)
        try await body(StoreHistory(seed: seed, start: start, rules: rules, server: server))
        try await server.ledger.close()
    }

    private init(seed: UInt64, start: Date, rules: ExpectedEntitlements.Rules, server: HistoryServer) throws {
        random = SeededGenerator(seed: seed)
        evidence = StoreEvidence(authority: try MintedWorld.store())
        expected = ExpectedEntitlements(rules: rules)
        self.server = server
        store = try HistoryCatalog.store(startingAt: start, graceDays: [16, 3, 28, 0, 16][Int(seed % 5)])
    }

    // MARK: Steps

    /// Time passes, something happens in the store, and evidence of it is sent.
    mutating func step() async throws {
        try store.moveClock(to: store.now.addingTimeInterval(Double(Int.random(in: 1...20_000, using: &random))))
        try await publish()
        let customer = pick(HistoryCatalog.customers)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22: try await buy(customer)
        case 22..<31:
            let days = Int.random(in: 1...20, using: &random)
            let later = store.now.addingTimeInterval(Double(days) * 86_400)
            try await happen { store, _ in try store.moveClock(to: later) }
        case 31..<39: try await change { try $0.setBilling(works: .random(using: &$2), for: $1) }
        case 39..<42: try await change { try $0.setAutoRenewal(.random(using: &$2), for: $1) }
        case 42..<49:
            let product = pick(HistoryCatalog.subscriptions)
            try await change { store, id, _ in try store.changeProduct(of: id, to: product) }
        case 49..<52: try await change { try $0.extendRenewal(of: $1, days: .random(in: 1...90, using: &$2)) }
        case 52..<59: try await refund()
        case 59..<63:
            try await touch(where: { $0.revocation?.kind == .refund }) { try $0.reverseRefund(of: $1) }
        case 63..<68:
            try await touch(where: { $0.ownership == .purchased }) { try $0.share($1, with: customer) }
        case 68..<70:
            try await touch(where: { $0.ownership == .familyShared }) { try $0.revokeSharing(of: $1) }
        case 70..<72: try await restore(customer)
        case 72..<74:
            try await touch(where: { !$0.isFinished }) { try $0.finish($1) }
        case 74..<79: try await claim(by: customer)
        case 79..<81: try await move(to: customer)
        case 81..<92: try await use(customer)
        case 92..<93: try await makeTokensKnown()
        default: break
        }
        for index in delayed.indices.reversed() where Int.random(in: 0..<25, using: &random) == 0 {
            try await deliver(delayed.remove(at: index))
        }
    }

    private mutating func buy(_ customer: String) async throws {
        let products = ["coins", "coins", "coins", "gems", "full", "season", "visit"] + HistoryCatalog.subscriptions
        let product = pick(products)
        var options = AppStore.PurchaseOptions()
        if HistoryCatalog.consumables.contains(product) { options.quantity = UInt64.random(in: 1...10, using: &random) }
        options.appAccountToken = HistoryCatalog.tokens[customer]?.uuidString.lowercased()
        let count = transactionIDs.count
        try await happen { [options] store, _ in
            try store.buy(product, of: HistoryCatalog.app, by: customer, options: options)
        }
        // The app claims its purchase.
        guard transactionIDs.count > count, let sold = transactionIDs.last else { return }
        try await claim(sold, by: customer)
    }

    private mutating func refund() async throws {
        let isPartial = Int.random(in: 0..<2, using: &random) == 0
        let percentage = isPartial ? Int64.random(in: 1...100_000, using: &random) : nil
        // Half of the refunds are of units, which may have been used.
        let isOfUnits = Bool.random(using: &random)
        try await touch(where: { $0.ownership == .purchased && ($0.kind == .consumable) == isOfUnits }) {
            try $0.refund($1, percentage: percentage)
        }
    }

    /// The customer restores on a device; the app sends the new receipt.
    private mutating func restore(_ customer: String) async throws {
        try await happen { store, _ in try store.restore(HistoryCatalog.app, for: customer) }
        let receipt = try store.receipt(of: HistoryCatalog.app, for: customer)
        let fate = fate()
        guard !receipt.transactions.isEmpty, fate != .lost else { return }
        // Sometimes another customer signs in to the app on that device.
        let claimant = Int.random(in: 0..<5, using: &random) == 0 ? pick(HistoryCatalog.customers) : customer
        let bytes = Array(try evidence.appReceipt(of: HistoryCatalog.app, for: customer, in: store).utf8)
        var originals: [String] = []
        for transaction in receipt.transactions where !originals.contains(transaction.originalTransactionID) {
            originals.append(transaction.originalTransactionID)
        }
        try await send(.restore(by: claimant, originals: originals, bytes), fate)
    }

    /// A customer claims any purchase.
    private mutating func claim(by customer: String) async throws {
        guard let transaction = transactionIDs.randomElement(using: &random) else { return }
        try await claim(transaction, by: customer)
    }

    /// An operator transfers a purchase from its owner.
    private mutating func move(to customer: String) async throws {
        guard let original = expected.originals.randomElement(using: &random),
            let owner = expected.owner(of: original), owner != customer
        else { return }
        try await makeTokensKnown()
        try await deliver(.observation(try signed(original)))
        let environment = try store.transaction(original).environment
        try await server.move(original, in: environment, from: owner, to: customer, at: store.now)
        expected.move(original, to: customer)
        counts.moves += 1
    }

    /// A customer uses units. The app first asks the store for everything that it knows.
    private mutating func use(_ customer: String) async throws {
        let productID = Int.random(in: 0..<4, using: &random) == 0 ? "gems" : "coins"
        let product = try store.product(productID, of: HistoryCatalog.app)
        guard !expected.lots(concerning: customer, productID).isEmpty else { return }
        try await makeTokensKnown()
        for lot in expected.lots(concerning: customer, product.productID) {
            let present = try store.transaction(lot)
            let isUnclaimed = expected.owner(of: lot) == nil && present.customerID == customer
            guard synchronized[lot] != present || isUnclaimed else { continue }
            if isUnclaimed {
                try await deliver(
                    .claim(lot, original: lot, productID: product.productID, by: customer, try signed(lot)))
            } else {
                try await deliver(.observation(try signed(lot)))
            }
            synchronized[lot] = present
        }
        let quantity = Int64.random(in: 1...5, using: &random)
        let environment = try store.customer(customer).environment
        let isEnough = expected.use(
            quantity, of: product, in: environment, by: customer, at: store.now)
        let isDone = try await server.use(
            quantity, of: product.productID, in: environment, by: customer, at: store.now)
        guard isEnough == isDone else {
            throw HistoryError(
                description: "\(customer) uses \(quantity) \(product.productID) at \(store.now): expected \(isEnough)")
        }
        counts.uses += isDone ? 1 : 0
        counts.refusedUses += isDone ? 0 : 1
    }

    private mutating func makeTokensKnown() async throws {
        guard !tokensAreKnown else { return }
        tokensAreKnown = true
        for (customer, token) in HistoryCatalog.tokens.sorted(by: { $0.key < $1.key }) {
            try await server.assign(token, to: customer, at: store.now)
        }
    }

    // MARK: The store

    /// Makes something happen in the store, unless it refuses.
    private mutating func happen(
        _ body: (inout AppStore, inout SeededGenerator) throws -> Void
    ) async throws {
        let before = store
        do {
            try body(&store, &random)
            counts.steps += 1
        } catch is StoreError {
            store = before
            counts.refusedSteps += 1
        }
        try await publish()
    }

    /// Makes something happen to a subscription that has not ended.
    private mutating func change(
        _ body: (inout AppStore, String, inout SeededGenerator) throws -> Void
    ) async throws {
        let running = store.subscriptions.filter { $0.status != .expired && $0.status != .revoked }
        guard let id = running.randomElement(using: &random)?.originalTransactionID else { return }
        try await happen { try body(&$0, id, &$1) }
    }

    /// Makes something happen to a suitable transaction.
    private mutating func touch(
        where isFit: (StoreTransaction) -> Bool, _ body: (inout AppStore, String) throws -> Void
    ) async throws {
        // Prefers recent purchases, which are more likely to be active.
        let recent = Bool.random(using: &random) ? transactionIDs.suffix(20) : transactionIDs[...]
        let fit = try recent.filter { isFit(try store.transaction($0)) }
        guard let id = fit.randomElement(using: &random) else { return }
        try await happen { store, _ in try body(&store, id) }
    }

    /// Records everything that happened since the last call, and sends its notifications.
    private mutating func publish() async throws {
        while let event = nextEvent() {
            eventCount = event.number
            kinds.insert(event.kind)
            expected.record(event)
            if isNew(event), let id = event.transaction?.transactionID { transactionIDs.append(id) }
            // A reversed refund leaves the lot unchanged, and the server may know only of the refund.
            if let id = event.transaction?.transactionID { synchronized[id] = nil }
            guard event.notification != nil else { continue }
            // Only the renewal info of that time has the grace period.
            let isIrreplaceable = event.subscription?.status == .gracePeriod
            let fate = fate()
            guard fate != .lost || isIrreplaceable, let signed = try evidence.notification(of: event, in: store) else {
                continue
            }
            let delivery = HistoryDelivery.observation(Array(signed.utf8))
            if isIrreplaceable { irreplaceable.append(delivery) }
            try await send(delivery, fate)
        }
    }

    private func nextEvent() -> StoreEvent? {
        do {
            return try store.event(eventCount + 1)
        } catch {
            // There is none yet.
            return nil
        }
    }

    private func isNew(_ event: StoreEvent) -> Bool {
        switch event.kind {
        case .purchased, .subscribed, .resubscribed, .renewed, .recovered, .upgraded, .shared, .restored: true
        default: false
        }
    }

    // MARK: Evidence

    private func signed(_ transactionID: String) throws -> [UInt8] {
        Array(try evidence.signedTransaction(transactionID, in: store).utf8)
    }

    /// Sends a claim of a transaction with evidence of any kind.
    private mutating func claim(_ transactionID: String, by customer: String) async throws {
        let fate = fate()
        guard fate != .lost else { return }
        let transaction = try store.transaction(transactionID)
        let bytes: [UInt8]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes = Array(try evidence.transactionReceipt(transactionID, in: store).utf8)
        case 1:
            let receipt = try store.receipt(of: HistoryCatalog.app, for: transaction.customerID)
            guard receipt.transactions.contains(where: { $0.transactionID == transactionID }) else { fallthrough }
            bytes = Array(try evidence.appReceipt(of: HistoryCatalog.app, for: transaction.customerID, in: store).utf8)
        default: bytes = try signed(transactionID)
        }
        try await send(
            .claim(
                transactionID, original: transaction.originalTransactionID, productID: transaction.productID,
                by: customer, bytes), fate)
    }

    /// The effects of a network on evidence.
    private enum Fate {
        case lost, delivered, delayed, duplicated
    }

    private mutating func fate() -> Fate {
        let fate: Fate
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<5: fate = .lost
        case 5..<12: fate = .delivered
        case 12..<18: fate = .delayed
        default: fate = .duplicated
        }
        counts.lost += fate == .lost ? 1 : 0
        counts.delayed += fate == .delayed ? 1 : 0
        counts.duplicates += fate == .duplicated ? 1 : 0
        return fate
    }

    private mutating func send(_ delivery: HistoryDelivery, _ fate: Fate) async throws {
        if fate == .delayed || fate == .duplicated { delayed.append(delivery) }
        if fate == .delivered || fate == .duplicated { try await deliver(delivery) }
    }

    private mutating func deliver(_ delivery: HistoryDelivery) async throws {
        counts.deliveries += 1
        try await server.take(delivery, at: store.now)
        for original in delivery.claimedOriginals { expected.claim(original, by: delivery.claimant ?? "") }
    }

    /// Delivers the latest signed data of every transaction and subscription, the pending evidence, and the
    /// notifications of grace periods, in random order.
    mutating func deliverEverything() async throws {
        try store.moveClock(to: store.now.addingTimeInterval(3600))
        try await publish()
        var all = delayed + irreplaceable
        delayed = []
        for id in transactionIDs { all.append(.observation(try signed(id))) }
        for subscription in store.subscriptions {
            let renewalInfo = try evidence.signedRenewalInfo(of: subscription.originalTransactionID, in: store)
            all.append(.observation(Array(renewalInfo.utf8)))
        }
        // Some purchases are never claimed; they stay held.
        for original in expected.originals
        where expected.owner(of: original) == nil && Int.random(in: 0..<10, using: &random) > 0 {
            let transaction = try store.transaction(original)
            all.append(
                .claim(
                    original, original: original, productID: transaction.productID, by: transaction.customerID,
                    try signed(original)))
        }
        all.shuffle(using: &random)
        for (index, delivery) in all.enumerated() {
            if index == all.count / 2 { try await makeTokensKnown() }
            try await deliver(delivery)
        }
        try await makeTokensKnown()
    }

    // MARK: The end

    /// Asks the ledger after all evidence has arrived.
    /// - Returns: the differences between its answers and the expected ones.
    mutating func differences(questions: Int) async throws -> [String] {
        var round = HistoryQuestions(store: store, expected: expected, server: server, random: random)
        for _ in 0..<questions { try await round.ask() }
        counts.questions = questions
        (counts.activeAnswers, counts.inactiveAnswers) = (round.activeAnswers, round.inactiveAnswers)
        counts.shortfalls = round.shortfalls
        return round.differences
    }

    /// The findings of the ledger's audit.
    func audit() async throws -> [String] {
        try await server.ledger.audit().findings.map { "\($0)" }
    }

    /// Where the tables differ from the rows of the values of the purchases.
    func differencesOfRows() async throws -> [String] {
        try await RuleAudit(server.database).findings().map { "\($0)" }
    }

    /// The kinds of events that every history must have and this one lacks.
    var missingEvents: [StoreEvent.Kind] {
        // Some apps have no grace period.
        let exceptions: Set<StoreEvent.Kind> = [
            .gracePeriodExpired, .priceIncreaseAsked, .priceIncreaseAccepted, .refundAsked, .refundDeclined,
            .receiptRefreshed,
        ]
        return StoreEvent.Kind.allCases.filter { !exceptions.contains($0) && !kinds.contains($0) }
    }

    /// One line about the history.
    var report: String { "\(transactionIDs.count) transactions, \(eventCount) events; \(counts)" }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }
}

/// The reasons why a history cannot continue.
struct HistoryError: Error, CustomStringConvertible {
    let description: String
}
