public import Foundation

// StoreKit 2 (Apple, "In-App Purchase"), as far as the adapters use it.

public enum VerificationResult<SignedType> {
    case unverified(SignedType, VerificationError)
    case verified(SignedType)

    public enum VerificationError: Error { case invalidSignature }

    public var unsafePayloadValue: SignedType {
        switch self {
        case .unverified(let value, _), .verified(let value): value
        }
    }
}

extension VerificationResult: Sendable where SignedType: Sendable {}

extension VerificationResult where SignedType == Transaction {
    public var jwsRepresentation: String { unsafePayloadValue.jws }
}

public struct Transaction: Sendable {
    public let id: UInt64
    public let originalID: UInt64
    public let productID: String
    public let purchasedQuantity: Int
    public let appAccountToken: UUID?
    public let purchaseDate: Date
    public let expirationDate: Date?
    public let revocationDate: Date?
    public let isUpgraded: Bool
    let jws: String

    init(_ sold: Sold) {
        let facts = sold.transaction
        id = UInt64(facts.transactionId) ?? 0
        originalID = UInt64(facts.originalTransactionId) ?? 0
        productID = facts.productId
        purchasedQuantity = facts.quantity
        appAccountToken = facts.appAccountToken.flatMap { UUID(uuidString: $0) }
        purchaseDate = facts.purchaseDate
        expirationDate = facts.expiresDate
        revocationDate = facts.revocation?.date
        isUpgraded = facts.upgradeDate != nil
        jws = sold.evidence.signedTransaction
    }

    public func finish() async {
        do {
            let _: Nothing = try await StandInStore.require().post("app/finish", ["transaction_id": "\(id)"])
        } catch {
            // StoreKit's own does not say, either; the transaction is delivered again.
        }
    }

    /// Transactions of the store, as StoreKit's sequence of them.
    public struct Transactions: AsyncSequence, Sendable {
        public typealias Element = VerificationResult<Transaction>
        let stream: AsyncStream<Element>

        public func makeAsyncIterator() -> AsyncStream<Element>.Iterator { stream.makeAsyncIterator() }
    }

    public static var unfinished: Transactions { once { try await $0.get("app/queue") } }

    public static var currentEntitlements: Transactions { once { try await $0.post("app/restore", $0.owner) } }

    public static var updates: Transactions {
        Transactions(
            stream: AsyncStream { continuation in
                let task = Task {
                    var last: Int?
                    while !Task.isCancelled {
                        do {
                            let store = try StandInStore.require()
                            guard let after = last else {
                                let queue: SoldQueue = try await store.get("app/queue")
                                last = queue.last
                                continue
                            }
                            let queue: SoldQueue = try await store.get("app/updates", ["after": "\(after)"])
                            for sold in queue.transactions { continuation.yield(.verified(Transaction(sold))) }
                            last = queue.last
                            try await Task.sleep(nanoseconds: 20_000_000)
                        } catch {
                            // Asked again.
                            await Task.yield()
                        }
                    }
                    continuation.finish()
                }
                continuation.onTermination = { _ in task.cancel() }
            })
    }

    private static func once(_ ask: @escaping @Sendable (StandInStore) async throws -> SoldQueue) -> Transactions {
        Transactions(
            stream: AsyncStream { continuation in
                let task = Task {
                    do {
                        for sold in try await ask(try StandInStore.require()).transactions {
                            continuation.yield(.verified(Transaction(sold)))
                        }
                    } catch {
                        // StoreKit's sequence ends, too.
                    }
                    continuation.finish()
                }
                continuation.onTermination = { _ in task.cancel() }
            })
    }
}

public struct Product: Sendable {
    public let id: String

    public static func products<Identifiers: Collection>(
        for identifiers: Identifiers
    ) async throws -> [Product] where Identifiers.Element == String {
        let wanted = Set(identifiers)
        let products: [SoldProduct] = try await StandInStore.require().get("app/products")
        return products.filter { wanted.contains($0.productId) }.map { Product(id: $0.productId) }
    }

    public struct PurchaseOption: Hashable, Sendable {
        private let name: String
        let quantity: Int?
        let token: UUID?

        public static func appAccountToken(_ token: UUID) -> PurchaseOption {
            PurchaseOption(name: "token", quantity: nil, token: token)
        }

        public static func quantity(_ quantity: Int) -> PurchaseOption {
            PurchaseOption(name: "quantity", quantity: quantity, token: nil)
        }
    }

    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }

    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        let store = try StandInStore.require()
        var body: [String: Any] = store.owner
        body["product_id"] = id
        if let quantity = options.compactMap(\.quantity).first { body["quantity"] = quantity }
        if let token = options.compactMap(\.token).first { body["app_account_token"] = token.uuidString }
        let payment: SoldPayment = try await store.post("app/purchases", body)
        if let sold = payment.transaction { return .success(.verified(Transaction(sold))) }
        return payment.result == "cancelled" ? .userCancelled : .pending
    }
}

public enum AppStore {
    public static func sync() async throws {}

    /// StoreKit's own is not asynchronous, either: the identifier is known when the app runs.
    public static var deviceVerificationID: UUID? { StandInDevice.id }
}

/// The identifier of the device, which a test asks the simulator for.
public enum StandInDevice {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var known: UUID?

    static var id: UUID? { lock.withLock { known } }

    /// Asks the simulator for it.
    public static func load() async throws {
        let device: SoldDevice = try await StandInStore.require().get("app/device")
        let id = UUID(uuidString: device.deviceId)
        lock.withLock { known = id }
    }
}

public struct PurchaseIntent: Sendable {
    public let product: Product

    public static var intents: AsyncStream<PurchaseIntent> { AsyncStream { $0.finish() } }
}

public struct AppTransaction: Sendable {
    let jws: String

    public static var shared: VerificationResult<AppTransaction> {
        get async throws {
            let queue: SoldQueue = try await StandInStore.require().post("app/restore", StandInStore.require().owner)
            guard let sold = queue.transactions.first else {
                throw StandInStore.Refusal(status: 404, text: "The customer has bought nothing yet.")
            }
            return .verified(AppTransaction(jws: sold.evidence.appTransaction))
        }
    }

    public static func refresh() async throws -> VerificationResult<AppTransaction> {
        try await StandInStore.require().refreshReceipt()
        return try await shared
    }
}

extension VerificationResult where SignedType == AppTransaction {
    public var jwsRepresentation: String { unsafePayloadValue.jws }
}
