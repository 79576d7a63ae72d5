import Foundation
import PurchaseVerification

/// A payment queue in memory, for unit tests and previews: everybody pays at once. Its purchases count in debug builds
/// without a server only, as those of Xcode's store do.
///
///     let queue = MemoryPurchaseQueue([
///         PurchaseProduct(productID: "pro", kind: .nonConsumable, name: "Pro", price: 9.99, priceText: "$9.99")
///     ])
///     let engine = PurchaseEngine(inMemory: queue)
///
/// Unchecked, because the lock guards what changes.
public final class MemoryPurchaseQueue: PaymentQueue, @unchecked Sendable {
    private let lock = NSLock()
    private let sold: [PurchaseProduct]
    private var bought: [PaymentTransaction] = []
    private var finished: Set<String> = []
    private var listeners: [AsyncStream<PaymentTransaction>.Continuation] = []
    private var stopped: PaymentResult?

    public init(_ products: [PurchaseProduct]) { sold = products }

    /// What the next purchases end with instead of a payment: `.pending` or `.cancelled`; `nil` for a payment.
    public var ends: PaymentResult? {
        get { locked { $0.stopped } }
        set { locked { $0.stopped = newValue } }
    }

    public func updates() -> AsyncStream<PaymentTransaction> {
        AsyncStream { made in locked { $0.listeners.append(made) } }
    }

    public func unfinished() async throws -> [PaymentTransaction] {
        locked { own in own.bought.filter { !own.finished.contains($0.transactionID ?? "") } }
    }

    public func buy(_ payment: PurchasePayment) async throws -> PaymentResult {
        if let ends { return ends }
        guard let product = sold.first(where: { $0.productID == payment.productID }) else {
            throw PurchaseError(.queueFailed, expected: "a product of the queue", found: payment.productID)
        }
        return .purchased(locked { $0.sell(product, payment.seats ?? payment.quantity, payment.appAccountToken) })
    }

    /// Sells a product as if it happened on another device or were approved by a parent.
    public func deliver(_ productID: String) {
        guard let product = sold.first(where: { $0.productID == productID }) else { return }
        let (transaction, listeners) = locked { ($0.sell(product, 1, nil), $0.listeners) }
        for listener in listeners { listener.yield(transaction) }
    }

    public func refund(_ productID: String) {
        let (refunded, listeners) = locked { own in
            for place in own.bought.indices where own.bought[place].productID == productID {
                own.bought[place].revocationDate = Date()
            }
            return (own.bought.filter { $0.productID == productID }, own.listeners)
        }
        for transaction in refunded { for listener in listeners { listener.yield(transaction) } }
    }

    public func finish(_ transaction: PaymentTransaction) async throws {
        _ = locked { $0.finished.insert(transaction.transactionID ?? "") }
    }

    public func restore() async throws -> [PaymentTransaction] {
        try await current()?.map(\.asRestored) ?? []
    }

    public func current() async throws -> [PaymentTransaction]? {
        locked { $0.bought.filter { $0.revocationDate == nil && $0.kind != .consumable } }
    }

    public func environment() async -> String? { "Xcode" }

    public func products(_ productIDs: [String]) async throws -> [PurchaseProduct] {
        productIDs.compactMap { id in sold.first { $0.productID == id } }
    }

    private func sell(_ product: PurchaseProduct, _ quantity: Int, _ token: UUID?) -> PaymentTransaction {
        let id = "\(bought.count + 1)"
        let transaction = PaymentTransaction(
            transactionID: id, originalTransactionID: id, productID: product.productID, kind: product.kind,
            quantity: quantity, environment: "Xcode", appAccountToken: token, signedTransaction: "in memory",
            purchaseDate: Date(), expirationDate: product.period.map { $0.end(after: 1, from: Date()) })
        bought.append(transaction)
        return transaction
    }

    private func locked<Result>(_ body: (MemoryPurchaseQueue) -> Result) -> Result { lock.withLock { body(self) } }
}

/// A store that forgets everything when the process ends, for previews and for a first try.
///
/// Unchecked, because the lock guards what changes.
public final class MemoryPurchaseStore: PurchaseStore, @unchecked Sendable {
    private let lock = NSLock()
    /// The document under an empty name.
    private var kept: [String: [UInt8]] = [:]

    public init() {}

    public func read() throws -> [UInt8]? { try evidence("") }
    public func write(_ document: [UInt8]) throws { try keepEvidence(document, "") }
    public func setAside() throws { try removeEvidence("") }
    public func evidence(_ name: String) throws -> [UInt8]? { lock.withLock { kept[name] } }
    public func keepEvidence(_ evidence: [UInt8], _ name: String) throws { lock.withLock { kept[name] = evidence } }
    public func removeEvidence(_ name: String) throws { lock.withLock { kept[name] = nil } }
}

extension PurchaseEngine {
    /// An engine over a queue in memory, without a server, for unit tests and previews in debug builds.
    public init(inMemory queue: MemoryPurchaseQueue, lengths: [String: PurchasePeriod] = [:]) {
        self.init(
            queue: queue,
            verifier: DeviceVerifier(app: AppIdentity(bundleID: "", version: ""), device: NoDevice()), server: nil,
            store: MemoryPurchaseStore(), lengths: lengths)
    }

    private struct NoDevice: DeviceIdentity {
        func receiptIdentifiers() async -> [DeviceIdentifier] { [] }
        func deviceVerificationID() async -> DeviceIdentifier? { nil }
    }
}

extension PurchaseModel {
    /// A model that shows some products as active and some balances, for previews of a screen. Nothing is bought.
    public static func preview(active: [String] = [], balances: [String: Int64] = [:]) -> PurchaseModel {
        var shown = active.map { PurchaseEntitlement(productID: $0, isActive: true) }
        for (productID, balance) in balances {
            shown.append(PurchaseEntitlement(productID: productID, isActive: balance > 0, balance: balance))
        }
        return PurchaseModel(showing: shown.sorted { $0.productID < $1.productID })
    }
}
