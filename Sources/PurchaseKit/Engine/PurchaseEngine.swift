import Foundation
import PurchaseMessages

/// Takes transactions from the payment queue to a granted purchase: verifies each one on the device and by the server, stores what
/// was granted, and finishes the transaction, in this order.
///
///     let engine = PurchaseEngine(queue: queue, receipts: receipts, verifier: verifier, server: connection, store: store)
///     Task { await engine.run() }
///     await engine.signIn(PurchaseCustomer(id: "alice"))
///     let outcome = await engine.buy("com.example.app.coins")
///
/// Create one engine for the whole life of the app: two engines with the same store would overwrite each other's record.
public actor PurchaseEngine {
    let queue: any PaymentQueue
    let receipts: any ReceiptSource
    let verifier: DeviceVerifier
    let server: PurchaseConnection?
    let store: any PurchaseStore
    let time: any PurchaseTime
    /// How long a signed answer counts offline, in seconds.
    let offlineSeconds: Double

    private(set) var record = PurchaseRecord()
    private var isLoaded = false
    private(set) var customer: PurchaseCustomer?
    /// Purchases of this run, for which the receipt may be refreshed without asking.
    var startedInThisRun: [StartedPurchase] = []
    /// Transactions of these purchases.
    var refreshable: Set<String> = []
    /// The transactions being handled, so that none is handled twice at the same time.
    var handling: [String: Task<PurchaseOutcome, Never>] = [:]
    /// The transactions finished in this run.
    var settled: [TransactionVersion: PurchaseOutcome] = [:]
    /// When to start again, by the uptime, after the store or the queue failed; `nil` if neither failed.
    var nextStart: Double?
    var failedStarts = 0
    /// The latest time seen, and the uptime at that moment.
    var seenTime: (date: Date, uptime: Double)?
    private var listeners: [UUID: AsyncStream<PurchaseEvent>.Continuation] = [:]
    private var handler: (@Sendable (PurchaseEvent) -> Void)?
    private weak var delegate: (any PurchaseDelegate)?

    /// The longest time for which answers count offline: seven days.
    public static let longestOfflineSeconds: Double = 7 * 86_400

    /// - Parameters:
    ///   - queue: the payment queue.
    ///   - receipts: the app receipt.
    ///   - verifier: the checks on the device.
    ///   - server: the purchase server; without one, the device decides alone.
    ///   - store: the durable storage.
    ///   - time: the clock.
    ///   - offlineSeconds: how long the server's last answer counts offline; at most seven days.
    public init(
        queue: any PaymentQueue, receipts: any ReceiptSource = NoReceiptSource(), verifier: DeviceVerifier,
        server: PurchaseConnection?, store: any PurchaseStore, time: any PurchaseTime = SystemTime(),
        offlineSeconds: Double = PurchaseEngine.longestOfflineSeconds
    ) {
        self.queue = queue
        self.receipts = receipts
        self.verifier = verifier
        self.server = server
        self.store = store
        self.time = time
        self.offlineSeconds = max(0, min(offlineSeconds, Self.longestOfflineSeconds))
    }

    // MARK: Running

    /// Runs until its task is cancelled: handles unfinished transactions, every transaction that arrives, and each repetition.
    public func run() async {
        let updates = queue.updates()
        let withdrawals = queue.withdrawals()
        await start()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await transaction in updates { await self.handle(transaction) } }
            group.addTask { for await products in withdrawals { await self.withdraw(products) } }
            group.addTask { await self.keepRetrying() }
            await group.waitForAll()
        }
    }

    /// Handles all transactions that the queue has not finished or the outbox keeps. `run` calls it.
    public func start() async {
        let failed = failedStarts
        nextStart = nil
        guard loads() else { return startAgainLater() }
        var transactions: [PaymentTransaction] = []
        do {
            transactions = try await queue.unfinished()
        } catch {
            emit(PurchaseEvent(.failedOutside, error: PurchaseError(.queueFailed, error)))
            startAgainLater()
        }
        let known = transactions.compactMap(\.key)
        // Entries that the queue no longer knows were finished by another device, or only the record does not show yet that they
        // were.
        transactions += record.outbox.filter { entry in !known.contains { $0.matches(entry.key) } }.map(\.transaction)
        for transaction in transactions { await handle(transaction) }
        if failedStarts == failed { failedStarts = 0 }
    }

    /// Tries again, now, everything that waits.
    public func retryNow() async {
        guard loads() else { return }
        for entry in record.outbox { await handle(entry.transaction) }
    }

    /// Refreshes the receipt, which may ask the customer for their password, and tries again everything that waits. Call it when
    /// the customer asks for it, after the event `refreshNeeded`.
    public func refreshAndRetry() async {
        do {
            try await receipts.refresh()
        } catch {
            emit(PurchaseEvent(.failedOutside, error: PurchaseError(.refreshFailed, error)))
            return
        }
        await retryNow()
    }

    // MARK: The customer

    /// Sets the customer who receives purchases that name no other customer, and handles the purchases that waited for one.
    ///
    /// With a customer without an id, purchases wait.
    public func signIn(_ customer: PurchaseCustomer) async {
        guard !customer.id.isEmpty else { return signOut() }
        self.customer = customer
        guard loads() else { return }
        if let token = customer.appAccountToken, record.customers[token] != customer.id {
            _ = changes { $0.customers[token] = customer.id }
        }
        for entry in record.outbox where entry.customerID == nil { await handle(entry.transaction) }
    }

    /// From now on, purchases that name no customer wait.
    public func signOut() { customer = nil }

    // MARK: Events

    /// Every event from now on. Each call creates a separate stream.
    public func events() -> AsyncStream<PurchaseEvent> {
        let id = UUID()
        return AsyncStream { continuation in
            listeners[id] = continuation
            continuation.onTermination = { _ in Task { await self.removeListener(id) } }
        }
    }

    /// Calls a closure with every event from now on. It replaces the previous closure.
    public func onEvent(_ handler: (@Sendable (PurchaseEvent) -> Void)?) { self.handler = handler }

    /// Reports every outcome from now on to a delegate. The delegate is not retained.
    public func setDelegate(_ delegate: (any PurchaseDelegate)?) { self.delegate = delegate }

    /// Reports that the App Store asks for the purchase of a product that the customer chose there (`shouldAddStorePayment`,
    /// `PurchaseIntent`). The app decides, and calls `buy`.
    public func promote(_ productID: String, offer: PaymentOffer? = nil) { emit(PurchaseEvent(.promoted, productID: productID)) }

    func emit(_ event: PurchaseEvent) {
        for listener in listeners.values { listener.yield(event) }
        handler?(event)
    }

    func tellDelegate(_ transaction: PaymentTransaction, _ outcome: PurchaseOutcome) async {
        switch outcome {
        case .granted: await delegate?.didVerify(transaction, isValid: true)
        case .refused: await delegate?.didVerify(transaction, isValid: false)
        case .undetermined(let error), .failed(let error):
            await delegate?.didFailToVerify(transaction, error: error)
        case .pending: break
        }
    }

    private func removeListener(_ id: UUID) { listeners[id] = nil }

    // MARK: The record

    /// Reads the record once.
    func load() throws {
        guard !isLoaded else { return }
        if let document = try store.read() { record = try PurchaseRecord(document) }
        isLoaded = true
    }

    /// Changes the record: durably, or not at all.
    func change(_ body: (inout PurchaseRecord) -> Void) throws {
        try load()
        var next = record
        body(&next)
        guard next != record else { return }
        do {
            try store.write(try next.document())
        } catch {
            throw PurchaseError(.storeFailed, error)
        }
        record = next
    }

    /// Changes the record, or reports that it cannot be changed.
    func changes(_ body: (inout PurchaseRecord) -> Void) -> Bool {
        do {
            try change(body)
            return true
        } catch {
            emit(PurchaseEvent(.failedOutside, error: PurchaseError(.storeFailed, error)))
            return false
        }
    }

    /// Reads the record, or reports that it cannot be read.
    func loads() -> Bool { changes { _ in } }
}

extension PaymentTransaction {
    /// Its identity; `nil` if it has no id yet.
    var key: TransactionKey? {
        transactionID.map { TransactionKey(environment: environment, transactionID: $0) }
    }
}
