import Foundation
public import PurchaseKit

/// The payment queue of a device at the simulated store, as StoreKit 2's on a real one.
public struct SimulatorQueue: PaymentQueue {
    private let store: SimulatedStore
    private let progress = QueueProgress()
    private let pause: Double

    /// - Parameters:
    ///   - store: the store.
    ///   - pause: the seconds between two looks for updates.
    public init(_ store: SimulatedStore, pause: Double = 0.2) {
        (self.store, self.pause) = (store, pause)
    }

    public func updates() -> AsyncStream<PaymentTransaction> {
        AsyncStream(task: { continuation in
            while !Task.isCancelled {
                for transaction in await newer() { continuation.yield(transaction) }
                // Cancelled, it ends at once.
                try? await Task.sleep(nanoseconds: UInt64(max(0.01, pause) * 1_000_000_000))
            }
        })
    }

    public func unfinished() async throws -> [PaymentTransaction] {
        let answer = try await store.get(StoreAnswers.Queue.self, "app/queue")
        // Updates begin after what the first look showed, so that none is missed.
        await progress.begin(answer.last)
        return answer.transactions.map(\.payment)
    }

    /// Asks the customer to pay. A new subscriber gets the introductory offer of the product also without asking for
    /// it.
    ///
    /// The store finds an offer by its id and decides who is eligible by its own history. It checks no signature of a
    /// promotional or introductory offer: sandbox and TestFlight do. A purchase with an offer that the product does not
    /// have, or that the customer may not have, fails before the customer pays, so that they do not pay the full price.
    public func buy(_ payment: PurchasePayment) async throws -> PaymentResult {
        guard payment.plan == nil else {
            throw PurchaseError(.queueFailed, expected: "no billing plan", found: payment.productID)
        }
        var body: [String: Any] = store.owner
        body["product_id"] = payment.productID
        body["quantity"] = payment.seats ?? payment.quantity
        if let token = payment.appAccountToken { body["app_account_token"] = token.uuidString }
        if let offer = payment.offer { body["offer_id"] = try await offerID(of: offer, for: payment.productID) }
        let paid: StoreAnswers.Payment
        do {
            paid = try await store.post(StoreAnswers.Payment.self, "app/purchases", body)
        } catch let error as SimulatedStoreError where (400..<500).contains(error.status) {
            throw PurchaseError(.queueFailed, expected: "a purchase that the store sells", found: error.description)
        }
        if let sold = paid.transaction { return .purchased(sold.payment) }
        return paid.result == "cancelled" ? .cancelled : .pending
    }

    public func finish(_ transaction: PaymentTransaction) async throws {
        guard let id = transaction.transactionID else { return }
        _ = try await store.post(StoreAnswers.Nothing.self, "app/finish", ["transaction_id": id])
    }

    public func restore() async throws -> [PaymentTransaction] {
        let answer = try await store.post(StoreAnswers.Queue.self, "app/restore", store.owner)
        return answer.transactions.map(\.payment.asRestored)
    }

    public func current() async throws -> [PaymentTransaction]? {
        try await store.get(StoreAnswers.Queue.self, "app/current").transactions.map { sold in
            var payment = sold.payment
            payment.signedRenewalInfo = sold.evidence.signedRenewalInfo
            return payment
        }
    }

    public func latest(_ productIDs: [String]) async throws -> [PaymentTransaction] {
        var transactions: [PaymentTransaction] = []
        for id in productIDs {
            let answer = try await store.get(StoreAnswers.Queue.self, "app/latest", ["product_id": id])
            transactions += answer.transactions.map(\.payment)
        }
        return transactions
    }

    /// The one that the store makes beside a transaction; `nil` while the customer has none.
    public func appTransaction(refreshes _: Bool) async -> String? {
        try? await store.get(StoreAnswers.Queue.self, "app/current").transactions.first?.evidence.appTransaction
    }

    public func environment() async -> String? {
        // Unknown while the store does not answer, as on a device without a network.
        try? await store.get(StoreAnswers.Device.self, "app/device").environment.capitalized
    }

    public func products(_ productIDs: [String]) async throws -> [PurchaseProduct] {
        let products = try await store.get([StoreAnswers.Product].self, "app/products")
        return productIDs.compactMap { id in products.first { $0.productId == id }?.product }
    }

    /// The store's id of an offer of the product, of the kind that was asked for.
    private func offerID(of offer: PaymentOffer, for productID: String) async throws -> String {
        let products = try await store.get([StoreAnswers.Product].self, "app/products")
        let offers = products.first { $0.productId == productID }?.subscription?.offers ?? []
        let (kind, id): (String, String?) =
            switch offer {
            case .promotional(let id, _, _, _, _), .promotionalJWS(let id, _): ("promotional", id)
            case .introductory: ("introductory", nil)
            case .winBack(let id): ("win-back", id)
            }
        guard let found = offers.first(where: { $0.kind == kind && (id == nil || $0.offerId == id) }) else {
            throw PurchaseError(
                .queueFailed, expected: "a \(kind) offer \(id ?? "") of \(productID)",
                found: "the offers \(offers.map { "\($0.kind) \($0.offerId)" })")
        }
        return found.offerId
    }

    /// The transactions that changed since the last look; none while the store does not answer.
    private func newer() async -> [PaymentTransaction] {
        do {
            guard let after = await progress.last else {
                await progress.begin(try await store.get(StoreAnswers.Queue.self, "app/queue").last)
                return []
            }
            let answer = try await store.get(StoreAnswers.Queue.self, "app/updates", ["after": "\(after)"])
            await progress.advance(answer.last)
            return answer.transactions.map(\.payment)
        } catch {
            return []
        }
    }
}

/// The last event of the store that the queue has seen.
private actor QueueProgress {
    private(set) var last: Int?

    func begin(_ number: Int) { last = last ?? number }
    func advance(_ number: Int) { last = number }
}
