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
/// It runs the engine as long as it exists. With SwiftUI it is an `ObservableObject`; elsewhere `onChange` tells of
/// each change.
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
    /// and with a server until the app calls `signIn`, `signInAsGuest` or `signOut`.
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

    /// A model of an engine, which it runs. Several models can have one engine: one of them runs it, and when that one
    /// goes away, another.
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
    public func balance(_ productID: String) -> Int64 {
        entitlements.first { $0.productID == productID }?.balance ?? 0
    }

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
        if begun.isQueued, told == nil {
            queued.insert(productID)
        } else {
            show(begun.outcome == .pending ? told ?? .pending : begun.outcome, productID)
        }
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
