import AppStoreSimulator
import ExpectedEntitlements
import Foundation
import PurchaseLedger
import PurchaseVerification

/// Delivers one history to ledgers, and compares their answers with the pure rules after each delivery, and with the
/// store after the last one.
struct NewsComparison {
    private(set) var history: NewsHistory
    private(set) var counts = NewsCounts()
    /// The first differences.
    private(set) var differences: [String] = []
    private(set) var facts: DeliveredFacts
    private let ledgers: [NewsLedger]
    private let verifier: PurchaseVerifier
    private let fault: NewsFault?
    /// What was verified, by the bytes: the verification is that of any ledger, so it is done once.
    private(set) var examined: [String: ExaminedEvidenceSubmission] = [:]
    private var observations: [String: Observation] = [:]

    /// More would say nothing new.
    private static let most = 5

    init(_ history: NewsHistory, _ ledgers: [NewsLedger], fault: NewsFault? = nil) throws {
        self.history = history
        self.ledgers = ledgers
        self.fault = fault
        facts = try DeliveredFacts(history.catalog, fault: fault)
        verifier = try NewsLedger.verifier()
        counts.histories = 1
        counts.events = history.store.events.count
        for event in history.store.events { counts.kinds[event.kind.rawValue, default: 0] += 1 }
    }

    // MARK: Deliveries

    /// Delivers everything, and compares after each delivery.
    mutating func run() async throws {
        for ledger in ledgers { try await ledger.assignTokens(history.catalog) }
        let arrivals = try history.arrivals()
        var (received, latest): (Set<String>, Int) = ([], 0)
        for item in arrivals {
            counts.outOfOrder += item.order < latest ? 1 : 0
            latest = max(latest, item.order)
            switch item.content {
            case .notification(_, let uuid, _):
                try await deliver(item, isNew: received.insert(uuid).inserted)
            case .claim(let transaction, _): try await claim(item, transaction)
            }
            try await compare(after: item)
            guard differences.count < Self.most else { return }
        }
        try await compareWithTheStore(history.truth(fault: fault))
    }

    private mutating func deliver(_ item: NewsItem, isNew: Bool) async throws {
        guard case .notification(let event, _, let payload) = item.content else { return }
        counts.notifications += 1
        if !isNew {
            counts.repeated += 1
            counts.signedAgain += history.items.contains { $0.payload == payload } ? 0 : 1
        }
        facts.deliver(try observation(payload), order: item.order)
        if fault == .refundIgnored, event.notification?.type == "REFUND" { return }
        for ledger in ledgers {
            let notification = try examined[payload] ?? ledger.examine(payload)
            examined[payload] = notification
            let isRepeated = try await ledger.take(notification, at: item.arrival)
            if isRepeated == isNew { note("\(ledger.engine): \(item.name) is repeated: \(isRepeated)") }
        }
    }

    private mutating func claim(_ item: NewsItem, _ transaction: StoreTransaction) async throws {
        counts.claims += 1
        facts.deliver(try observation(item.payload), order: item.order)
        facts.claim(Self.key(transaction.transactionID), by: item.customer)
        for ledger in ledgers {
            try await ledger.claim(
                transaction.transactionID, transaction.productID, by: item.customer, item.payload, at: item.arrival)
        }
    }

    private mutating func observation(_ payload: String) throws -> Observation {
        if let known = observations[payload] { return known }
        let observation = Observation(try verifier.verify(try Evidence(Array(payload.utf8)), policies: []))
        observations[payload] = observation
        return observation
    }

    private static func key(_ transactionID: String) -> TransactionKey {
        TransactionKey(environment: .production, transactionID: ExactText(transactionID))
    }

    // MARK: After each delivery

    /// The facts of the transaction, and the answers for its customer and another one, now and at another time.
    private mutating func compare(after item: NewsItem) async throws {
        if let id = item.transactionID, fault != .latestArrival, fault != .refundIgnored {
            let expected = facts.facts[Self.key(id)]?.encoded
            for ledger in ledgers {
                let found = try await ledger.facts(of: id)
                if found != expected { note("\(ledger.engine): the facts of \(id) differ after \(item.name)") }
            }
        }
        let now = item.arrival
        let other = min(now, history.boundary())
        for customer in Set([item.customer, history.pick(history.catalog.customers)]) where !customer.isEmpty {
            for time in [now, other] {
                let question = time == now ? AccessQuestion.now(Timestamp(now)) : .at(Timestamp(time))
                let expected = facts.answers(for: customer, question)
                for ledger in ledgers {
                    let found = try await ledger.entitlements(of: customer, at: time, now: now)
                        .mapValues { NewsAnswer($0) }
                    counts.answers += max(1, found.count)
                    counts.activeAnswers += found.values.count(where: \.isActive)
                    guard found != expected else { continue }
                    note(
                        "\(ledger.engine), \(customer) at \(time.ISO8601Format()) after \(item.name): found \(found), expected \(expected)"
                    )
                }
            }
        }
    }

    private mutating func note(_ difference: String) {
        if differences.count < Self.most { differences.append("history \(history.seed), \(difference)") }
    }

    // MARK: The end

    /// The number of times at which the complete answers are compared.
    private static let times = 6

    private mutating func compareWithTheStore(_ truth: ExpectedEntitlements) async throws {
        let now = history.store.now
        for customer in history.catalog.customers {
            for time in [now] + (0..<Self.times).map({ _ in min(now, history.boundary()) }) {
                for ledger in ledgers {
                    let found = try await ledger.entitlements(of: customer, at: time, now: now)
                    compare(found, with: truth, customer, at: time, ledger.engine)
                    if time == now { compareSubscriptions(found, of: customer, ledger.engine) }
                }
            }
        }
    }

    private mutating func compare(
        _ found: [String: Entitlement], with truth: ExpectedEntitlements, _ customer: String, at time: Date,
        _ engine: String
    ) {
        for product in history.store.products {
            // An answer about now gives access five minutes early.
            let starts = truth.starts(of: customer, product, .production)
            guard !starts.contains(where: { $0 > time && $0.addingTimeInterval(-300) <= time }) else { continue }
            let expected = truth.access(of: customer, to: product, in: .production, at: time)
            var answer = ExpectedEntitlements.Access()
            if let entitlement = found[product.productID] {
                answer.isActive = entitlement.state == .active
                (answer.balance, answer.shortfall) = (entitlement.balance, entitlement.shortfall)
                answer.until = entitlement.until.flatMap { until in
                    answer.isActive ? Date(timeIntervalSince1970: Double(until.millisecondsSince1970) / 1000) : nil
                }
            }
            counts.truths += 1
            guard answer != expected else { continue }
            note(
                "\(engine), \(customer), \(product.productID) at \(time.ISO8601Format()): found \(answer), the store says \(expected)"
            )
        }
    }

    /// The seats and the renewal of the customer's subscriptions, as the store has them now.
    private mutating func compareSubscriptions(_ found: [String: Entitlement], of customer: String, _ engine: String) {
        for subscription in history.store.subscriptions where subscription.customerID == customer {
            guard subscription.isUsable, subscription.sharedFrom == nil,
                let entitlement = found[subscription.productID], entitlement.state == .active,
                // It can rest on another subscription, such as a seat that somebody assigned.
                history.store.periodTransactions(of: subscription).contains(where: {
                    $0.transactionID == entitlement.transactionID
                })
            else { continue }
            if NewsCatalog.seats.contains(subscription.productID) {
                counts.seats += 1
                let seats = Int64(history.store.seats(of: subscription))
                if entitlement.seats != seats {
                    note("\(engine), \(customer): \(entitlement.seats ?? 0) seats, the store has \(seats)")
                }
            }
            counts.renewals += 1
            guard let info = entitlement.renewal?.info else {
                note("\(engine), \(customer): no renewal info of \(subscription.productID)")
                continue
            }
            let isOn = info.autoRenewStatus == 1
            let product = info.nextProductID?.string
            if isOn != subscription.autoRenews || product != subscription.autoRenewProductID {
                note(
                    "\(engine), \(customer): renews \(isOn) as \(product ?? "none"), the store says \(subscription.autoRenews), \(subscription.autoRenewProductID)"
                )
            }
        }
    }
}

/// What a customer may use of one product, in a form that the ledger's answers and the pure rules share.
struct NewsAnswer: Equatable, CustomStringConvertible {
    let reason: String?
    let until: Timestamp?
    let balance: Int64
    let shortfall: Int64
    let transactionID: String?

    init(_ entitlement: Entitlement) {
        reason = entitlement.reason?.rawValue
        until = entitlement.until
        (balance, shortfall) = (entitlement.balance, entitlement.shortfall)
        transactionID = entitlement.productKind == .consumable ? nil : entitlement.transactionID
    }

    init(_ access: ProductAccess) {
        reason = (access.isInGrace ? .inGrace : access.denial)?.rawValue
        until = access.until
        (balance, shortfall) = (access.balance, access.shortfall)
        transactionID = access.kind == .consumable ? nil : access.transaction?.transactionID.string
    }

    var isActive: Bool { reason == nil || reason == "in_grace" }

    var description: String {
        """
        \(reason ?? "active") until \(until.map { "\($0)" } ?? "ever") by \(transactionID ?? "none"), \
        \(balance) left, \(shortfall) short
        """
    }
}
