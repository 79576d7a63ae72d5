import AppStoreSimulator
import ExpectedEntitlements
import Foundation
import ServerTestSupport
import TestSupport

/// A random history of a store, and what it sends to the server, with the times of arrival.
struct NewsHistory: Sendable {
    let seed: UInt64
    let catalog: NewsCatalog
    private(set) var store: AppStore
    /// In the order in which they were signed; an item that is delivered again is one of `repetitions`.
    private(set) var items: [NewsItem] = []
    /// The claims in the order of their arrival.
    private(set) var claims: [NewsItem] = []
    private var random: SeededGenerator
    private let evidence: StoreEvidence
    private var eventCount = 0
    /// The customers who claimed an original.
    private var claimants: [String: [String]] = [:]

    /// - Parameter steps: the number of acts in the store.
    init(seed: UInt64, steps: Int) throws {
        self.seed = seed
        catalog = NewsCatalog(number: seed)
        random = SeededGenerator(seed: seed)
        evidence = StoreEvidence(authority: try MintedWorld.store())
        store = try catalog.store(graceDays: [16, 3, 28, 0, 16][Int(seed % 5)])
        for number in 0..<steps {
            let hours = Int.random(in: 1...200, using: &random)
            try happen { store, _ in
                try store.moveClock(to: store.now.addingTimeInterval(Double(hours) * 3600 + 17))
            }
            // Without purchases, nothing else can happen.
            if number < 3 { try buy() } else { try step() }
        }
        try happen { store, _ in try store.moveClock(to: store.now.addingTimeInterval(86_400)) }
        for place in items.indices { items[place].arrival = arrival(of: items[place]) }
    }

    // MARK: Steps

    private mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<24: try buy()
        case 24..<36: try change { try $0.setBilling(works: .random(using: &$2), for: $1) }
        case 36..<42: try change { try $0.setAutoRenewal(.random(using: &$2), for: $1) }
        case 42..<49:
            let product = pick(["gold", "platinum", "silver", "bronze"])
            try change { store, id, _ in try store.changeProduct(of: id, to: product) }
        case 49..<54: try extend()
        case 54..<67: try refund()
        case 67..<75:
            try touch(where: { $0.revocation?.kind == .refund || ($0.seats?.revoked ?? 0) > 0 }) { store, id, _ in
                try store.reverseRefund(of: id)
            }
        case 75..<81:
            let member = pick(catalog.claiming)
            try touch(where: { $0.ownership == .purchased }) { store, id, _ in try store.share(id, with: member) }
        case 81..<84:
            try touch(where: { $0.ownership != .purchased }) { store, id, _ in try store.revokeSharing(of: id) }
        case 84..<88:
            try change {
                try $0.addSeats(
                    .random(in: 1...3, using: &$2), to: $1, notificationType: "DID_CHANGE_RENEWAL_PREF")
            }
        case 88..<90:
            try change {
                try $0.setRenewalSeats(
                    .random(in: 1...5, using: &$2), of: $1, notificationType: "DID_CHANGE_RENEWAL_PREF")
            }
        case 90..<93:
            let member = pick(catalog.claiming)
            try change { store, id, _ in try store.assignSeat(of: id, to: member) }
        case 93..<96:
            let (product, price) = (pick(NewsCatalog.subscriptions), Int64.random(in: 500...3000, using: &random))
            let needsConsent = Bool.random(using: &random)
            try happen { store, _ in
                try store.changePrice(of: product, of: NewsCatalog.app, to: price, needsConsent: needsConsent)
            }
        case 96..<98: try change { store, id, _ in try store.acceptPrice(of: id) }
        default:
            try touch(where: { $0.ownership == .purchased }) { store, id, random in
                if Bool.random(using: &random) {
                    try store.askForRefund(of: id)
                } else {
                    try store.declineRefund(of: id)
                }
            }
        }
    }

    private mutating func buy() throws {
        let product = pick(NewsCatalog.products)
        let customer = pick(catalog.named + [catalog.claiming[0]])
        var options = AppStore.PurchaseOptions()
        if product == "coins" { options.quantity = UInt64.random(in: 1...10, using: &random) }
        if NewsCatalog.seats.contains(product) { options.quantity = UInt64.random(in: 2...5, using: &random) }
        options.appAccountToken = catalog.token(of: customer)?.uuidString.lowercased()
        try happen { [options] store, _ in
            try store.buy(product, of: NewsCatalog.app, by: customer, options: options)
        }
    }

    /// An extension of a period to which seats were added is told for one of its transactions only.
    private mutating func extend() throws {
        try change { store, id, random in
            guard store.periodTransactions(of: try store.subscription(id)).count == 1 else { return }
            try store.extendRenewal(of: id, days: .random(in: 1...90, using: &random))
        }
    }

    private mutating func refund() throws {
        try touch(where: { $0.ownership == .purchased && $0.restoredFrom == nil }) { store, id, random in
            let transaction = try store.transaction(id)
            if let seats = transaction.seats, Int.random(in: 0..<3, using: &random) > 0 {
                let left = transaction.quantity - seats.revoked
                guard left > 0 else { return }
                try store.refundSeats(.random(in: 1...left, using: &random), of: id)
            } else {
                let isPartial = transaction.seats == nil && Bool.random(using: &random)
                try store.refund(id, percentage: isPartial ? .random(in: 1...100_000, using: &random) : nil)
            }
        }
    }

    // MARK: The store

    private mutating func happen(_ body: (inout AppStore, inout SeededGenerator) throws -> Void) throws {
        let before = store
        do {
            try body(&store, &random)
        } catch is StoreError {
            store = before
        }
        try publish()
    }

    /// Makes something happen to a subscription that has not ended.
    private mutating func change(_ body: (inout AppStore, String, inout SeededGenerator) throws -> Void) throws {
        let running = store.subscriptions.filter { $0.status != .expired && $0.status != .revoked }
        guard let id = running.randomElement(using: &random)?.originalTransactionID else { return }
        try happen { try body(&$0, id, &$1) }
    }

    /// Makes something happen to a suitable transaction.
    private mutating func touch(
        where isFit: (StoreTransaction) -> Bool, _ body: (inout AppStore, String, inout SeededGenerator) throws -> Void
    ) throws {
        let fit = store.transactions.filter(isFit)
        // Prefers recent ones, which are more likely to be active.
        let recent = Bool.random(using: &random) ? fit.suffix(3) : fit[...]
        guard let id = recent.randomElement(using: &random)?.transactionID else { return }
        try happen { try body(&$0, id, &$1) }
    }

    /// Signs the notification of every event since the last call, and the claims of what has no account token.
    private mutating func publish() throws {
        while eventCount < store.events.count {
            eventCount += 1
            let event = try store.event(eventCount)
            if let uuid = event.notification?.notificationUUID,
                let payload = try evidence.notification(of: event, in: store)
            {
                add(.notification(event, uuid: uuid, payload: payload), event.customerID ?? "", at: event.date)
            }
            if let transaction = event.transaction, event.kind != .restored { try claim(transaction) }
        }
    }

    private mutating func claim(_ transaction: StoreTransaction) throws {
        let original = transaction.originalTransactionID
        guard transaction.appAccountToken == nil, claimants[original] == nil else { return }
        // Sometimes somebody else claims it, too, before or after.
        var customers = [transaction.customerID]
        if Int.random(in: 0..<8, using: &random) == 0 {
            let other = pick(catalog.customers)
            if other != transaction.customerID { customers.insert(other, at: Int.random(in: 0...1, using: &random)) }
        }
        claimants[original] = customers
        for customer in customers {
            let signed = try evidence.signedTransaction(transaction.transactionID, in: store)
            add(.claim(transaction, payload: signed), customer, at: store.now)
        }
    }

    private mutating func add(_ content: NewsItem.Content, _ customer: String, at time: Date) {
        items.append(NewsItem(order: items.count, content: content, customer: customer, arrival: time))
    }

    // MARK: Arrival

    /// Whether everything arrives after the end, in any order.
    private var isShuffled: Bool { seed % 3 == 0 }

    private mutating func arrival(of item: NewsItem) -> Date {
        guard !isShuffled else { return store.now }
        let delay: Double
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45: delay = .random(in: 0...90, using: &random)
        case 45..<80: delay = .random(in: 0...259_200, using: &random)
        default: delay = .random(in: 0...4_000_000, using: &random)
        }
        return min(store.now, item.arrival.addingTimeInterval(delay.rounded()))
    }

    /// Everything in the order of arrival. Some notifications come again, half of these signed again.
    mutating func arrivals() throws -> [NewsItem] {
        var all = items
        for item in items {
            guard case .notification(let event, let uuid, _) = item.content,
                Int.random(in: 0..<4, using: &random) == 0
            else { continue }
            var again = item
            if Bool.random(using: &random), let payload = try evidence.notification(of: event, in: store) {
                again = NewsItem(
                    order: item.order, content: .notification(event, uuid: uuid, payload: payload),
                    customer: item.customer, arrival: item.arrival)
            }
            again.arrival = arrival(of: again)
            all.append(again)
        }
        // The order of those that arrive together is random.
        let arrivals = all.shuffled(using: &random).sorted { $0.arrival < $1.arrival }
        claims = arrivals.filter(\.isClaim)
        return arrivals
    }

    /// A time at which an answer may change, or a second beside it, or any time of the history.
    mutating func boundary() -> Date {
        guard case .notification(let event, _, _)? = items.randomElement(using: &random)?.content else {
            let seconds = Double.random(in: 1...8_000_000, using: &random).rounded()
            return store.now.addingTimeInterval(-seconds)
        }
        let dates = [
            event.date, event.transaction?.purchaseDate, event.transaction?.expiresDate,
            event.transaction?.revocation?.date, event.subscription?.gracePeriodExpiresDate,
        ].compactMap(\.self)
        return (dates.randomElement(using: &random) ?? event.date).addingTimeInterval(pick([-1, 0, 1, 3600]))
    }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    // MARK: The truth

    /// The events of the store, for a person who looks for the reason of a difference.
    var story: String {
        let lines = store.events.map { event in
            let (words, status) = (
                event.notification.map { "\($0.type) \($0.subtype ?? "")" }, event.subscription?.status
            )
            let transaction = event.transaction.map { sold in
                let (end, revoked) = (sold.expiresDate?.ISO8601Format(), sold.revocation?.date.ISO8601Format())
                let added = sold.seatsAddedTo.map { "added to \($0)" }
                return [
                    sold.transactionID, sold.purchaseDate.ISO8601Format(), end, revoked, added, "\(sold.quantity)",
                    sold.seats.map { "\($0.revoked) revoked" },
                ].compactMap(\.self).joined(separator: " ")
            }
            return
                "\(event.date.ISO8601Format()) \(event.summary); \(words ?? "silent"); \(transaction ?? ""); \(status?.rawValue ?? "")"
        }
        return (["history \(seed), until \(store.now.ISO8601Format())"] + lines).joined(separator: "\n")
    }

    /// What every customer may use once everything is known, by the store's own events.
    func truth(fault: NewsFault?) -> ExpectedEntitlements {
        var expected = ExpectedEntitlements(rules: ExpectedEntitlements.Rules())
        for event in store.events {
            if fault == .reversalIgnored, event.kind == .refundReversed { continue }
            if fault == .graceIgnored, event.kind == .billingFailed { continue }
            expected.record(event)
        }
        for claim in claims {
            guard case .claim(let transaction, _) = claim.content else { continue }
            expected.claim(transaction.originalTransactionID, by: claim.customer)
        }
        return expected
    }
}
