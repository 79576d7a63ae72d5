import Foundation

#if canImport(Combine)
    public import Combine
#endif

/// What a screen shows of the customer's purchases. It is always current: after a purchase, a refund, a renewal on another device, and
/// when a paid period ends while the screen is open.
///
///     @StateObject private var purchases = PurchaseModel(engine)
///     var body: some View { purchases.isActive("pro") ? ProView() : ShopView() }
///
/// It runs the engine as long as it exists. With SwiftUI it is an `ObservableObject`; elsewhere `onChange` tells of each change.
@MainActor
public final class PurchaseModel {
    #if canImport(Combine)
        /// What the customer may use now.
        @Published public private(set) var entitlements: [PurchaseEntitlement] = []
        /// The outcome of the last purchase that the customer began here; `nil` before the first.
        @Published public private(set) var outcome: PurchaseOutcome?
        /// The result of the last restore; `nil` before the first.
        @Published public private(set) var restored: RestoreSummary?
        /// Whether a purchase or a restore takes place.
        @Published public private(set) var isBusy = false
    #else
        /// What the customer may use now.
        public private(set) var entitlements: [PurchaseEntitlement] = [] { didSet { onChange?() } }
        /// The outcome of the last purchase that the customer began here; `nil` before the first.
        public private(set) var outcome: PurchaseOutcome? { didSet { onChange?() } }
        /// The result of the last restore; `nil` before the first.
        public private(set) var restored: RestoreSummary? { didSet { onChange?() } }
        /// Whether a purchase or a restore takes place.
        public private(set) var isBusy = false { didSet { onChange?() } }
        /// Called after each change.
        public var onChange: (() -> Void)?
    #endif

    /// The engine that the model shows.
    public let engine: PurchaseEngine
    private var work: [Task<Void, Never>] = []

    /// A model of an engine, which it runs.
    public init(_ engine: PurchaseEngine) {
        self.engine = engine
        work.append(Task { await engine.run() })
        work.append(
            Task { [weak self] in
                for await entitlements in engine.entitlementUpdates() { self?.entitlements = entitlements }
            })
    }

    deinit { work.forEach { $0.cancel() } }

    /// Whether the customer may use a product now.
    public func isActive(_ productID: String) -> Bool {
        entitlements.contains { $0.isActive && $0.productID == productID }
    }

    /// The remaining units of a consumable product; 0 if there are none.
    public func balance(_ productID: String) -> Int64 {
        entitlements.first { $0.productID == productID }?.balance ?? 0
    }

    /// Asks the customer to pay. The result is in `outcome`, and what changed in `entitlements`.
    public func buy(
        _ productID: String, quantity: Int = 1, order: PurchaseOrder? = nil, offer: PaymentOffer? = nil
    ) async {
        isBusy = true
        defer { isBusy = false }
        outcome = await engine.buy(productID, quantity: quantity, order: order, offer: offer)
    }

    /// Restores earlier purchases, which may ask for a password: only when the customer taps on it.
    public func restore() async {
        isBusy = true
        defer { isBusy = false }
        restored = await engine.restore()
    }
}

#if canImport(Combine)
    extension PurchaseModel: ObservableObject {}
#endif
