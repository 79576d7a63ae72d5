import Foundation
import PurchaseMessages

/// Takes transactions from the payment queue to a granted purchase: verifies each one on the device and by the server,
/// stores what was granted, and finishes the transaction, in this order.
///
///     let engine = PurchaseEngine(queue: queue, receipts: receipts, verifier: verifier, server: connection, store: store)
///     Task { await engine.run() }
///     await engine.signIn(PurchaseCustomer(id: "alice"))
///     let outcome = await engine.buy("com.example.app.coins")
///
/// Create one engine for the life of the app: two with the same store would overwrite each other's record.
public actor PurchaseEngine {
    let queue: any PaymentQueue
    let receipts: any ReceiptSource
    let verifier: DeviceVerifier
    let server: PurchaseConnection?
    let store: any PurchaseStore
    let life: any AppLife
    let time: any PurchaseTime
    let offline: OfflineLimit
    let lengths: [String: PurchasePeriod]
    private let startsAsGuest: Bool

    private(set) var record = PurchaseRecord()
    private var isLoaded = false
    private var couldNotLoad = false
    private(set) var customer: PurchaseCustomer?
    var payments: [OpenPayment] = []
    /// The customers about whom a look of this run has ended, with or without an answer; without a server, an empty id.
    var lookedFor: Set<String> = []
    private(set) var isSignedOut = false
    /// Subscriptions that StoreKit lists although their time is over by the mark: the clock is, or was, wrong.
    var listedPastEnd: Set<PurchaseKey> = []
    private(set) var isRunning = false
    /// Those who take over when the run ends.
    var waitingForRunEnd: [AsyncStream<Void>.Continuation] = []
    private var hasStarted = false
    private var knowsEnvironment = false
    /// When to ask for it again, by the uptime.
    private var nextEnvironment = -Double.infinity
    /// Purchases of this run, for which the receipt may be refreshed without asking.
    var startedInThisRun: [StartedPurchase] = []
    var refreshable: Set<String> = []
    /// The transactions being handled, so that none is handled twice at the same time.
    var handling: [String: Task<PurchaseOutcome, Never>] = [:]
    var settled: [String: PurchaseOutcome] = [:]
    /// When each waiting transaction was last tried, by the uptime.
    var triedAt: [String: Double] = [:]
    /// When to start again, by the uptime, after the store or the queue failed; `nil` if neither failed.
    var nextStart: Double?
    var failedStarts = 0
    var pass: Task<Void, Never>?
    /// The taps that wait for the outcome of an open payment.
    package var joinedTaps = 0
    var nextPass: Double?
    var failedPasses = 0
    /// The latest time seen, and the uptime at that moment.
    var seenTime: (date: Date, uptime: Double)?
    var shownEntitlements: [PurchaseEntitlement]?
    var deliveries: [PurchaseDelivery] = []
    var isDelivering = false
    var sleeper: Task<Void, Never>?
    var watchers: [UUID: AsyncStream<Void>.Continuation] = [:]
    private var heldEvents: [PurchaseEvent]?
    private var listeners: [UUID: AsyncStream<PurchaseEvent>.Continuation] = [:]
    var outcomeListeners: [UUID: AsyncStream<(productID: String, outcome: PurchaseOutcome)>.Continuation] = [:]
    private var appListeners: Set<UUID> = []
    /// The last product that a customer chose on the App Store while the app did not listen yet.
    private var waitingPromotion: (event: PurchaseEvent, at: Date)?
    /// How long it waits, in seconds. Much later than its start, the customer has forgotten what they chose.
    private static let promotionSeconds = 300.0
    /// That the store was set aside in this run: it is read before most listeners exist.
    private var setAside: PurchaseEvent?
    weak var delegate: (any PurchaseDelegate)?
    /// How to merge a guest into the customer who signed in last with a hand-over.
    var handOver: (customerID: String, merge: HandOver)?
    var isHandingOver = false
    /// The calls of `signIn` and `signOut`, of which the last one counts.
    var logins = 0
    /// The customers about whom the server is being asked, one for each request.
    var askedAbout: [String] = []

    /// - Parameters:
    ///   - queue: the payment queue.
    ///   - receipts: the app receipt.
    ///   - verifier: the checks on the device.
    ///   - server: the purchase server; without one, the device decides alone.
    ///   - store: the durable storage.
    ///   - life: the moments that bring news, and time in the background.
    ///   - time: the clock.
    ///   - offline: how long the server's last answer counts without a newer one.
    ///   - lengths: how long each non-renewing subscription lasts, without a server; nothing signed states it, so one
    ///     that is not named here never ends. Each begins when it is bought, or when the one before it ends.
    ///   - startsAsGuest: whether the customer is a guest until somebody signs in, as in an app without a login.
    public init(
        queue: any PaymentQueue, receipts: any ReceiptSource = NoReceiptSource(), verifier: DeviceVerifier,
        server: PurchaseConnection?, store: any PurchaseStore, life: any AppLife = NoAppLife(),
        time: any PurchaseTime = SystemPurchaseTime(), offline: OfflineLimit = OfflineLimit(),
        lengths: [String: PurchasePeriod] = [:], startsAsGuest: Bool = false
    ) {
        (self.queue, self.receipts, self.verifier, self.server) = (queue, receipts, verifier, server)
        (self.store, self.life, self.time) = (store, life, time)
        (self.offline, self.lengths, self.startsAsGuest) = (offline, lengths, startsAsGuest)
    }

    // MARK: Running

    /// Runs until its task is cancelled: handles unfinished transactions and every transaction that arrives, repeats
    /// attempts, and looks for news when the system announces a moment for it. A second call returns at once.
    public func run() async {
        guard !isRunning else { return }
        isRunning = true
        defer { endRun() }
        let updates = queue.updates()
        let withdrawals = queue.withdrawals()
        let moments = life.moments()
        let changes = queue.statusChanges()
        let (others, other) = AsyncStream<PaymentTransaction>.makeStream()
        // What arrives is taken at once: without a network, a start with many transactions takes minutes.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await transaction in others { await self.handle(transaction) } }
            group.addTask { for await products in withdrawals { await self.withdraw(products) } }
            group.addTask { for await _ in changes { await self.refreshEntitlements() } }
            group.addTask { for await moment in moments { await self.look(at: moment) } }
            group.addTask {
                await self.start()
                await self.keepRetrying()
            }
            // What the customer has just paid does not wait behind renewals that a dead server keeps waiting.
            for await transaction in updates {
                if startedPurchase(of: transaction) == nil {
                    other.yield(transaction)
                } else {
                    group.addTask { await self.handle(transaction) }
                }
            }
            other.finish()
            await group.waitForAll()
        }
    }

    private func endRun() {
        isRunning = false
        waitingForRunEnd.forEach { $0.finish() }
        waitingForRunEnd = []
    }

    /// Handles all unfinished transactions and entries, and looks at the current evidence. `run` calls it.
    package func start() async {
        let failed = failedStarts
        nextStart = nil
        guard loads() else { return startAgainLater() }
        hasStarted = true
        await learnEnvironment()
        announce()
        var transactions: [PaymentTransaction] = []
        do {
            transactions = try await queue.unfinished()
            let known = transactions.compactMap(\.key)
            // Entries that the queue no longer knows were finished by another device, or only the record does not show
            // yet that they were.
            let others = record.outbox.filter { entry in !known.contains { $0.matches(entry.key) } }
            let old = others.filter {
                $0.isOld(at: time.now) && $0.attempts + ($0.waits ?? 0) >= Self.attemptsOfOldEntries
            }
            for entry in old { forget(entry) }
            transactions += others.filter { !old.contains($0) }.map(\.transaction)
        } catch {
            emit(.failedOutside(PurchaseError(.queueFailed, error), nil))
            startAgainLater()
            transactions = record.outbox.map(\.transaction)
        }
        for transaction in transactions { await handle(transaction) }
        if failedStarts == failed { failedStarts = 0 }
        await refreshEntitlements()
    }

    /// The number of attempts without which no old transaction is dropped: a wrong clock alone makes nothing old.
    private static let attemptsOfOldEntries = 20

    /// Tries again, now, everything that waits.
    public func retryNow() async {
        guard loads() else { return }
        for transaction in record.outbox.map(\.transaction) { await handle(transaction) }
    }

    /// Refreshes the receipt, which may ask the customer for their password, and tries again everything that waits.
    /// Call it when the customer asks for it, after the event `refreshNeeded`.
    public func refreshAndRetry() async {
        do {
            try await receipts.refresh()
        } catch {
            emit(.failedOutside(PurchaseError(.refreshFailed, error), nil))
            return
        }
        await retryNow()
        await refreshEntitlements()
    }

    private func look(at moment: AppMoment) async {
        // It handles everything that waits, and looks at the current evidence.
        guard nextStart == nil else { return await start() }
        if moment == .network { await retryNow() }
        await refreshEntitlements()
    }

    // MARK: The customer

    /// Sets the customer who receives purchases that name no other customer, and handles the purchases that waited for
    /// them.
    ///
    /// With a customer without an id, purchases wait. What a guest has stays with the guest, which the event
    /// `guestKept` says: `signIn(_:handingOver:)` hands it over.
    public func signIn(_ customer: PurchaseCustomer) async {
        logins += 1
        guard !customer.id.isEmpty else { return signOut() }
        guard use(customer) else { return }
        let isMoved = record.isGuestMoved == true
        let isKept = record.guest.map { $0.id != customer.id && (isMoved || record.knows($0.id)) } ?? false
        if isKept || (handOver?.customerID != customer.id && record.awaitsGuest(customer.id)) { emit(.guestKept) }
        let waiting = record.outbox.filter {
            $0.customerID == nil || (hasStarted && $0.customerID == customer.id)
        }
        let owned = waiting.filter { $0.customerID != nil }.map(\.key.transactionID)
        for transaction in waiting.map(\.transaction) {
            // A login does not wait for a request that is on its way.
            let id = transaction.transactionID ?? ""
            if !owned.contains(id) || handling[id] == nil { await handle(transaction) }
        }
        announce()
        if hasStarted { await refreshEntitlements() }
    }

    func use(_ customer: PurchaseCustomer) -> Bool {
        self.customer = customer
        isSignedOut = false
        defer { watchers.values.forEach { $0.yield() } }
        return changes { record in
            // Who signs in under the id of a former guest is that customer again.
            if record.merged?[customer.id] != nil { record.merged?[customer.id] = nil }
            record.lastCustomer = customer
            if let token = customer.appAccountToken { record.customers[token] = customer.id }
        }
    }

    /// From now on, purchases that arrive wait, until the customer asks for one as a guest or somebody signs in.
    public func signOut() {
        logins += 1
        // Loading signs in the guest of an earlier launch.
        let isLoaded = loads()
        (customer, isSignedOut) = (nil, true)
        defer { watchers.values.forEach { $0.yield() } }
        if isLoaded, record.lastCustomer != nil { _ = changes { $0.lastCustomer = nil } }
        announce()
    }

    // MARK: Events

    /// Every event from now on, and that the store was set aside before in this run. Each call creates a separate
    /// stream. If there is no other, it also has the product that a customer chose on the App Store in the five minutes
    /// before: that choice starts the app.
    public func events() -> AsyncStream<PurchaseEvent> { stream(isOfApp: true) }

    /// The same for the kit itself, which does not act on a product that a customer chose on the App Store.
    func ownEvents() -> AsyncStream<PurchaseEvent> { stream(isOfApp: false) }

    private func stream(isOfApp: Bool) -> AsyncStream<PurchaseEvent> {
        let id = UUID()
        return AsyncStream { continuation in
            listeners[id] = continuation
            if let setAside { continuation.yield(setAside) }
            if isOfApp {
                appListeners.insert(id)
                if let waiting = waitingPromotion,
                    abs(time.now.timeIntervalSince(waiting.at)) < Self.promotionSeconds
                {
                    continuation.yield(waiting.event)
                }
                waitingPromotion = nil
            }
            continuation.onTermination = { _ in Task { await self.removeListener(id) } }
        }
    }

    /// Reports every outcome from now on to a delegate. The delegate is not retained.
    public func setDelegate(_ delegate: (any PurchaseDelegate)?) { self.delegate = delegate }

    /// Reports that the App Store asks for the purchase of a product that the customer chose there
    /// (`shouldAddStorePayment`, `PurchaseIntent`). The app decides, and calls `buy`.
    package func promote(_ productID: String, offer: PaymentOffer? = nil) {
        let event = PurchaseEvent.promoted(productID: productID, offer: offer)
        if appListeners.isEmpty { waitingPromotion = (event, time.now) }
        emit(event)
    }

    func emit(_ event: PurchaseEvent) {
        guard heldEvents == nil else { return heldEvents = (heldEvents ?? []) + [event] }
        for listener in listeners.values { listener.yield(event) }
        watchers.values.forEach { $0.yield() }
    }

    private func removeListener(_ id: UUID) {
        listeners[id] = nil
        appListeners.remove(id)
    }

    // MARK: The record

    /// Reads the record once. A damaged one is set aside: it must not refuse every purchase from now on.
    func load() throws {
        guard !isLoaded else { return }
        do {
            if let document = try store.read() { record = try PurchaseRecord(document) }
        } catch let error as PurchaseError where error.code == .storeDamaged {
            setAside = .storeSetAside(error)
            emit(.storeSetAside(error))
            // The next write replaces it in any case.
            do { try store.setAside() } catch { emit(.failedOutside(PurchaseError(.storeFailed, error), nil)) }
        } catch {
            couldNotLoad = true
            throw error
        }
        record.loadEvidence(store)
        do { try record.loadGuest(store) } catch {
            couldNotLoad = true
            throw PurchaseError(.storeFailed, error)
        }
        isLoaded = true
        if startsAsGuest, server != nil, record.lastCustomer == nil {
            // Before a request names them: another start must not make another one.
            do { try change { $0.lastCustomer = $0.ownGuest() } } catch {
                (isLoaded, couldNotLoad) = (false, true)
                throw error
            }
        }
        // A guest stays signed in over launches.
        if customer == nil, let guest = record.guest, record.lastCustomer == guest { customer = guest }
        watchers.values.forEach { $0.yield() }
        // Who follows the entitlements was told nothing before.
        if couldNotLoad { emit(.entitlementsChanged(entitlements(at: currentTime()))) }
    }

    /// Changes the record: durably, or not at all.
    func change(_ body: (inout PurchaseRecord) -> Void) throws {
        try load()
        guard heldEvents == nil else {
            body(&record)
            return record.renameMerged()
        }
        var next = record
        body(&next)
        next.renameMerged()
        guard next != record else { return }
        let old = record
        try write(next, since: old)
        record = next
        changed(since: old)
    }

    /// Makes several changes with one write, and reports their events when it is done; or makes none of them.
    ///
    /// The body does not suspend, so nothing else happens meanwhile.
    func together(_ body: () -> Void) -> Bool {
        guard loads() else { return false }
        let old = record
        heldEvents = []
        body()
        let events = heldEvents ?? []
        heldEvents = nil
        do {
            if record != old { try write(record, since: old) }
        } catch {
            record = old
            emit(.failedOutside(PurchaseError(.storeFailed, error), nil))
            return false
        }
        changed(since: old)
        events.forEach { emit($0) }
        return true
    }

    private func write(_ next: PurchaseRecord, since old: PurchaseRecord) throws {
        do {
            try next.storeGuest(store, since: old)
            try next.storeEvidence(store, since: old)
            try store.write(try next.document())
        } catch {
            throw PurchaseError(.storeFailed, error)
        }
    }

    private func changed(since old: PurchaseRecord) {
        if old.outbox != record.outbox || old.entitlements != record.entitlements || old.granted != record.granted
            || old.renewals != record.renewals
        {
            wake()
            announce()
        }
        // Evidence that stays behind does no harm; it is replaced or removed with the next transaction of this name.
        do { try record.removeEvidence(store, since: old) } catch {
            emit(.failedOutside(PurchaseError(.storeFailed, error), nil))
        }
    }

    /// Moves the mark of time. It is stored with the next change; until then the signed time can be seen again.
    ///
    /// - Parameter date: the time of a fresh answer, after which nothing can have ended yet.
    func move(_ mark: TimeMark, endingBy date: Date? = nil) {
        record.mark = mark
        // A look of before was at a time that never was.
        if let latest = mark.latest { record.looks = record.looks?.filter { $0.value <= latest } }
        if let date { record.endNoLater(than: date) }
    }

    /// Asks for the environment of this installation. It is stored with the next change, so that it is known offline.
    /// One that the system does not know may take seconds, and is asked for again after a minute.
    func learnEnvironment() async {
        guard !knowsEnvironment, nextEnvironment <= time.uptime else { return }
        nextEnvironment = time.uptime + 60
        guard let environment = await queue.environment() else { return }
        knowsEnvironment = true
        record.environment = environment
    }

    /// Changes the record, or reports that it cannot be changed.
    func changes(_ body: (inout PurchaseRecord) -> Void) -> Bool {
        do {
            try change(body)
            return true
        } catch {
            emit(.failedOutside(PurchaseError(.storeFailed, error), nil))
            return false
        }
    }

    func loads() -> Bool { changes { _ in } }
}

extension PaymentTransaction {
    var key: PurchaseKey? {
        transactionID.map { PurchaseKey(environment: environment, transactionID: $0) }
    }
}

extension PurchaseEngine {
    /// The products with these ids that the App Store sells, in the order of the ids, with price text, period and
    /// offers: what a shop shows. The type is the same for both APIs of StoreKit. A server whose account the app may
    /// read decides about offers, too, so that a shop shows what the server would sign.
    ///
    /// The server is not waited for longer than three seconds.
    ///
    /// - Throws: the queue's error, as without a network.
    public nonisolated func products(_ productIDs: [String]) async throws -> [PurchaseProduct] {
        let products = try await queue.products(productIDs)
        guard products.contains(where: { !$0.offers.isEmpty }) else { return products }
        let decisions = await TimeLimit.value(within: 3) { await self.offersOfServer() } ?? []
        return products.map { $0.decided(by: decisions) }
    }

    /// What the server lets the customer who is signed in have; nothing if it cannot be asked.
    private func offersOfServer() async -> [CustomerOffers.Offer] {
        guard let id = customer?.id, let name = try? await accountName(of: id),
            case .accepted(let list, _)? = try? await server?.own("offers", \CustomerOffers.customerID, id, name)
        else { return [] }
        return list.offers
    }
}

/// How long the server's last answer counts without a newer one. The kit asks for a newer one once a day.
public struct OfflineLimit: Sendable, Equatable {
    /// For what has an end, in seconds; never beyond that end, of which a grace period is part.
    public var subscriptions: Double
    /// For what has no end, in seconds; `nil` for ever.
    public var others: Double?
    /// How long a period that has ended still counts while no look at the current evidence succeeds, in seconds: its
    /// renewal may not have arrived. With 0 it ends at once. A refund that Apple signed is never waited for.
    public var leeway: Double

    /// The usual limits: 30 days for what has an end, none for the rest, and a day for the news of a renewal.
    public init(subscriptions: Double = 30 * 86_400, others: Double? = nil, leeway: Double = 86_400) {
        (self.subscriptions, self.others, self.leeway) = (subscriptions, others, leeway)
    }
}
