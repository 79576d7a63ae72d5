import Foundation

#if canImport(Combine)
    public import Combine
#endif

/// What a screen shows of the customer's purchases. It is always current: after a purchase, a refund, a renewal on
/// another device, and when a paid period ends while the screen is open.
///
///     @StateObject private var purchases = PurchaseModel(engine)
///     var body: some View { purchases.isActive("pro") ? ProView() : ShopView() }
///
/// It runs the engine as long as it exists. With SwiftUI it is an `ObservableObject`; else there is `onChange`.
@MainActor
public final class PurchaseModel {
    #if canImport(Combine)
        @Published private var state = State()
    #else
        private var state = State() { didSet { onChange?() } }
        /// Called after each change.
        public var onChange: (() -> Void)?
    #endif

    private struct State {
        var entitlements: [PurchaseEntitlement] = []
        var isLoaded = false
        var outcome: PurchaseOutcome?
        var restored: RestoreSummary?
        var isBusy = false
    }

    /// What the customer may use now.
    public var entitlements: [PurchaseEntitlement] { state.entitlements }
    /// Whether `entitlements` says something about the customer: it was stored, or the first look at the current
    /// evidence has ended, with an answer or without. Until then a screen that offers a purchase would offer it to
    /// those who have it. It stays `false` while the store cannot be read, as before the first unlock of the device,
    /// and with a server until the app calls `signIn`, `signInAsGuest` or `signOut`, unless the engine `startsAsGuest`.
    public var isLoaded: Bool { state.isLoaded }
    /// The newest outcome of the purchases that the customer began here, also when it comes after `buy` has returned:
    /// after an approval, or with the original API. `nil` before the first.
    public var outcome: PurchaseOutcome? { state.outcome }
    /// The result of the last restore; `nil` before the first.
    public var restored: RestoreSummary? { state.restored }
    /// Whether a purchase or a restore takes place; with the original API until the queue says how it went.
    public var isBusy: Bool { state.isBusy }

    /// Called with the product and each new value of `outcome`.
    public var onOutcome: ((_ productID: String, _ outcome: PurchaseOutcome) -> Void)?

    public let engine: PurchaseEngine
    private var work: [Task<Void, Never>] = []
    private let outcomes: Task<AsyncStream<(productID: String, outcome: PurchaseOutcome)>, Never>
    /// The products of purchases that were begun here and whose outcome can change, with the present one.
    private var open: [String: PurchaseOutcome] = [:]
    private var calls = 0 { didSet { showBusy() } }
    /// The products whose outcome the original API's queue has yet to bring.
    private var queued: Set<String> = [] { didSet { showBusy() } }
    /// What the engine said about products whose purchase is being begun.
    private var early: [String: PurchaseOutcome?] = [:]

    /// A model of an engine, which it runs. Of several models of an engine, one runs it at a time.
    public init(_ engine: PurchaseEngine) {
        self.engine = engine
        let outcomes = Task { await engine.outcomes() }
        self.outcomes = outcomes
        work.append(Task { await engine.runAfterOthers() })
        work.append(
            Task { [weak self] in
                for await (productID, outcome) in await outcomes.value { self?.follow(productID, outcome) }
            })
        work.append(
            Task { [weak self] in
                for await shown in engine.shownUpdates() { self?.show(shown) }
            })
    }

    /// A model that shows what it is given.
    init(showing entitlements: [PurchaseEntitlement]) {
        engine = PurchaseEngine(inMemory: MemoryPurchaseQueue([]))
        outcomes = Task { AsyncStream { $0.finish() } }
        (state.entitlements, state.isLoaded) = (entitlements, true)
    }

    deinit { work.forEach { $0.cancel() } }

    /// Whether the customer may use a product now, or a named entitlement of the server's settings.
    public func isActive(_ name: String) -> Bool { entitlements.isActive(name) }

    /// The remaining units of a consumable product; 0 if there are none.
    public func balance(_ productID: String) -> Int64 { entitlements.balance(of: productID) }

    /// Asks the customer to pay. The result is in `outcome`, and what changed in `entitlements`; with the original API
    /// when the queue has brought the transaction. A second tap meanwhile changes nothing.
    public func buy(
        _ productID: String, quantity: Int = 1, seats: Int? = nil, plan: BillingPlan? = nil,
        order: PurchaseOrder? = nil, offer: PaymentOffer? = nil
    ) async {
        guard !queued.contains(productID), !early.keys.contains(productID) else { return }
        calls += 1
        defer { calls -= 1 }
        // No outcome is missed.
        _ = await outcomes.value
        early.updateValue(nil, forKey: productID)
        let payment = PurchasePayment(
            productID: productID, quantity: quantity, seats: seats, plan: plan, offer: offer)
        let begun = await engine.begin(payment, order)
        // The original API's queue brings the outcome, perhaps before it was begun here.
        let told = early.removeValue(forKey: productID) ?? nil
        let outcome = [.pending, .queued].contains(begun) ? told ?? begun : begun
        if outcome == .queued { queued.insert(productID) } else { show(outcome, productID) }
    }

    /// Shows the outcome of a purchase in StoreKit's own views.
    package func take(_ sold: Result<PaymentResult, any Error>, of productID: String) async {
        show(await engine.handle(sold: sold, of: productID), productID)
    }

    /// Restores earlier purchases, which may ask for a password: only when the customer taps on it.
    public func restore() async {
        calls += 1
        defer { calls -= 1 }
        state.restored = await engine.restore()
    }

    private func show(_ shown: PurchaseEngine.Shown) {
        if entitlements != shown.entitlements { state.entitlements = shown.entitlements }
        if isLoaded != shown.isLoaded { state.isLoaded = shown.isLoaded }
    }

    private func showBusy() {
        let isBusyNow = calls > 0 || !queued.isEmpty
        if isBusy != isBusyNow { state.isBusy = isBusyNow }
    }

    /// Follows a purchase that was begun here.
    private func follow(_ productID: String, _ outcome: PurchaseOutcome) {
        guard early[productID] == nil else {
            early[productID] = outcome
            return
        }
        if queued.remove(productID) == nil {
            // What another customer has says nothing about a purchase that is open.
            guard let present = open[productID], present != outcome,
                outcome != .notCounted(PurchaseError(.ownedByAnother))
            else { return }
        }
        show(outcome, productID)
    }

    private func show(_ outcome: PurchaseOutcome, _ productID: String) {
        open[productID] = outcome.isOpen ? outcome : nil
        state.outcome = outcome
        onOutcome?(productID, outcome)
    }
}

#if canImport(Combine)
    extension PurchaseModel: ObservableObject {}
#endif

extension PurchaseEngine {
    /// Each outcome from now on with its product, also one that was known before, for which there is no event.
    func outcomes() -> AsyncStream<(productID: String, outcome: PurchaseOutcome)> {
        let id = UUID()
        let (outcomes, outcome) = AsyncStream<(productID: String, outcome: PurchaseOutcome)>.makeStream()
        outcomeListeners[id] = outcome
        outcome.onTermination = { _ in Task { await self.removeOutcomeListener(id) } }
        return outcomes
    }

    private func removeOutcomeListener(_ id: UUID) { outcomeListeners[id] = nil }

    /// Tells those who follow purchases of an outcome, as it is for the customer who is signed in.
    func report(_ outcome: PurchaseOutcome, of transaction: PaymentTransaction) {
        let outcome = self.outcome(outcome, of: transaction, for: customer?.id)
        for listener in outcomeListeners.values { listener.yield((transaction.productID, outcome)) }
    }

    /// Runs until its task is cancelled. If another run is under way, it takes over when that ends.
    func runAfterOthers() async {
        while !Task.isCancelled {
            await run()
            await endOfRun()
        }
    }

    /// Returns when no run is under way, or when its task is cancelled.
    private func endOfRun() async {
        guard isRunning else { return }
        let (ends, end) = AsyncStream<Void>.makeStream()
        waitingForRunEnd.append(end)
        for await _ in ends {}
    }
}

extension PurchaseOutcome {
    /// Whether another outcome can follow without a further payment: after an approval, an attempt, or an interruption.
    var isOpen: Bool {
        switch self {
        case .pending, .queued, .undetermined, .failed: true
        case .granted, .notCounted, .refused, .invalid, .cancelled: false
        }
    }
}
