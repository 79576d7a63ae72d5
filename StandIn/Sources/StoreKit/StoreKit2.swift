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
    public let subscriptionGroupID: String?
    public let purchasedQuantity: Int
    public let appAccountToken: UUID?
    public let purchaseDate: Date
    public let expirationDate: Date?
    public let revocationDate: Date?
    public let isUpgraded: Bool
    public let productType = Product.ProductType.nonConsumable
    public let environment: AppStore.Environment
    let jws: String
    let renewalInfo: String?

    init(_ sold: Sold) {
        let facts = sold.transaction
        id = UInt64(facts.transactionId) ?? 0
        originalID = UInt64(facts.originalTransactionId) ?? 0
        productID = facts.productId
        subscriptionGroupID = facts.subscriptionGroupId
        environment = AppStore.Environment(rawValue: facts.environment.capitalized)
        renewalInfo = sold.evidence.signedRenewalInfo
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

    public static var unfinished: Transactions {
        reads.add()
        return once { try await $0.get("app/queue") }
    }

    /// How often an app listed the unfinished transactions, for tests.
    public static var standInReads: Int { reads.number }
    private static let reads = ReadCount()

    /// No restore: nothing is asked of the customer, and nothing changes in the store.
    public static var currentEntitlements: Transactions { once { try await $0.get("app/current") } }

    /// The newest transaction of a product, also one that was refunded.
    public static func latest(for productID: String) async -> VerificationResult<Transaction>? {
        for await result in once({ try await $0.get("app/latest", ["product_id": productID]) }) { return result }
        return nil
    }

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

/// Unchecked, because the lock guards the number.
private final class ReadCount: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    var number: Int { lock.withLock { count } }

    func add() { lock.withLock { count += 1 } }
}

public struct Product: Sendable {
    public let id: String
    public let type: ProductType
    public let displayName: String
    public let description = "Sold by the simulated store."
    public let price: Decimal
    public let displayPrice: String
    public let subscription: SubscriptionInfo?
    public let priceFormatStyle: PriceFormatStyle
    public let subscriptionPeriodFormatStyle = PeriodFormatStyle()

    public struct PriceFormatStyle: Sendable {
        public let currencyCode: String
        public func format(_ price: Decimal) -> String { "\(price) \(currencyCode)" }
    }

    public struct PeriodFormatStyle: Sendable {}

    public struct ProductType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let consumable = ProductType(rawValue: "consumable")
        public static let nonConsumable = ProductType(rawValue: "non-consumable")
        public static let nonRenewable = ProductType(rawValue: "non-renewing")
        public static let autoRenewable = ProductType(rawValue: "auto-renewable")
    }

    init(_ sold: SoldProduct) {
        id = sold.productId
        type = ProductType(rawValue: sold.kind)
        displayName = sold.productId
        price = Decimal(sold.price) / 1_000
        displayPrice = "\(price) \(sold.currency)"
        priceFormatStyle = PriceFormatStyle(currencyCode: sold.currency)
        subscription = sold.subscription.map { [price, displayPrice] in SubscriptionInfo($0, price, displayPrice) }
    }

    public static func products<Identifiers: Collection>(
        for identifiers: Identifiers
    ) async throws -> [Product] where Identifiers.Element == String {
        let wanted = Set(identifiers)
        let products: [SoldProduct] = try await StandInStore.require().get("app/products")
        return products.filter { wanted.contains($0.productId) }.map { Product($0) }
    }

    public struct PurchaseOption: Hashable, Sendable {
        let name: String
        let value: String

        public static func appAccountToken(_ token: UUID) -> PurchaseOption {
            PurchaseOption(name: "appAccountToken", value: token.uuidString)
        }

        public static func quantity(_ quantity: Int) -> PurchaseOption {
            PurchaseOption(name: "quantity", value: "\(quantity)")
        }

        public static func simulatesAskToBuyInSandbox(_ simulates: Bool) -> PurchaseOption {
            PurchaseOption(name: "simulatesAskToBuyInSandbox", value: "\(simulates)")
        }

        public static func promotionalOffer(
            offerID: String, keyID: String, nonce: UUID, signature: Data, timestamp: Int
        ) -> PurchaseOption {
            let parts = [offerID, keyID, nonce.uuidString, signature.base64EncodedString(), "\(timestamp)"]
            return PurchaseOption(name: "promotionalOffer", value: parts.joined(separator: " "))
        }

        public static func promotionalOffer(_ offerID: String, compactJWS: String) -> [PurchaseOption] {
            [
                PurchaseOption(name: "promotionalOffer", value: offerID),
                PurchaseOption(name: "compactJWS", value: compactJWS),
            ]
        }

        public static func introductoryOfferEligibility(compactJWS: String) -> PurchaseOption {
            PurchaseOption(name: "introductoryOfferEligibility", value: compactJWS)
        }

        public static func winBackOffer(_ offer: SubscriptionOffer) -> PurchaseOption {
            PurchaseOption(name: "winBackOffer", value: offer.id ?? "")
        }

        public static func seats(_ targetSeatQuantity: Int) -> PurchaseOption {
            PurchaseOption(name: "seats", value: "\(targetSeatQuantity)")
        }

        public static func billingPlanType(_ type: SubscriptionInfo.BillingPlanType) -> PurchaseOption {
            PurchaseOption(name: "billingPlanType", value: type.rawValue)
        }

        /// The name and the value, for tests.
        public var standInText: String { "\(name) \(value)" }
    }

    public struct SubscriptionPeriod: Hashable, Sendable {
        public enum Unit: Hashable, Sendable { case day, week, month, year }
        public let unit: Unit
        public let value: Int

        /// One unit of ISO 8601, such as `P1M`.
        init(_ text: String) {
            let units: [Character: Unit] = ["D": .day, "W": .week, "M": .month, "Y": .year]
            unit = text.last.flatMap { units[$0] } ?? .month
            value = Int(text.dropFirst().dropLast()) ?? 1
        }

        public func formatted(_: PeriodFormatStyle) -> String { "\(value) \(unit)" }
    }

    public struct SubscriptionOffer: Hashable, Sendable {
        public let id: String?
        public let type: OfferType
        public let price: Decimal
        public let displayPrice: String
        public let period: SubscriptionPeriod
        public let periodCount: Int
        public let paymentMode: PaymentMode

        public struct PaymentMode: RawRepresentable, Hashable, Sendable {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }
            public static let freeTrial = PaymentMode(rawValue: "FREE_TRIAL")
            public static let payAsYouGo = PaymentMode(rawValue: "PAY_AS_YOU_GO")
            public static let payUpFront = PaymentMode(rawValue: "PAY_UP_FRONT")
        }

        init(_ offer: SoldProduct.Offer) {
            id = offer.kind == "introductory" ? nil : offer.offerId
            type = OfferType(rawValue: offer.kind)
            price = Decimal(offer.price) / 1_000
            displayPrice = "\(price)"
            period = SubscriptionPeriod(offer.period)
            periodCount = offer.periods
            paymentMode = PaymentMode(rawValue: offer.mode)
        }

        public struct OfferType: RawRepresentable, Hashable, Sendable {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }
            public static let introductory = OfferType(rawValue: "introductory")
            public static let promotional = OfferType(rawValue: "promotional")
            public static let winBack = OfferType(rawValue: "win-back")
        }
    }

    public struct SubscriptionInfo: Sendable {
        public let subscriptionGroupID: String
        public let subscriptionPeriod: SubscriptionPeriod
        public let introductoryOffer: SubscriptionOffer?
        public let promotionalOffers: [SubscriptionOffer]
        public let winBackOffers: [SubscriptionOffer]
        /// The simulated store does not say it.
        public var isEligibleForIntroOffer: Bool { get async { true } }

        init(_ terms: SoldProduct.Terms, _ price: Decimal, _ displayPrice: String) {
            subscriptionGroupID = terms.groupId
            subscriptionPeriod = SubscriptionPeriod(terms.period)
            let offers = (terms.offers ?? []).map { SubscriptionOffer($0) }
            introductoryOffer = offers.first { $0.type == .introductory }
            promotionalOffers = offers.filter { $0.type == .promotional }
            winBackOffers = offers.filter { $0.type == .winBack }
            pricingTerms = [
                PricingTerms(
                    billingPlanType: .upFront, billingPrice: price, billingDisplayPrice: displayPrice,
                    commitmentInfo: CommitmentInfo(price: price, displayPrice: displayPrice))
            ]
        }

        /// The simulated store has no other plan.
        public let pricingTerms: [PricingTerms]

        public struct PricingTerms: Sendable {
            public let billingPlanType: BillingPlanType
            public let billingPrice: Decimal
            public let billingDisplayPrice: String
            public let commitmentInfo: CommitmentInfo
        }

        public struct CommitmentInfo: Sendable {
            public let price: Decimal
            public let displayPrice: String
        }

        public struct BillingPlanType: RawRepresentable, Hashable, Sendable {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }
            public static let monthly = BillingPlanType(rawValue: "monthly")
            public static let upFront = BillingPlanType(rawValue: "upFront")
        }

        public struct Status: Sendable {
            /// The simulated store changes nothing without a transaction.
            public static var updates: AsyncStream<Status> { AsyncStream { $0.finish() } }

            public let transaction: VerificationResult<Transaction>
            public let renewalInfo: VerificationResult<RenewalInfo>
        }

        public struct RenewalInfo: Sendable {
            /// The simulated store does not say it.
            public let eligibleWinBackOfferIDs: [String] = []
            let jws: String
        }

        /// The subscriptions of a group.
        public static func status(for groupID: String) async throws -> [Status] {
            let queue: SoldQueue = try await StandInStore.require().get("app/current")
            return queue.transactions.map { Transaction($0) }.filter { $0.subscriptionGroupID == groupID }.map {
                Status(
                    transaction: .verified($0), renewalInfo: .verified(RenewalInfo(jws: $0.renewalInfo ?? "")))
            }
        }
    }

    public enum PurchaseError: Error, Sendable { case productUnavailable, purchaseNotAllowed, ineligibleForOffer }

    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }

    @MainActor
    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        let store = try StandInStore.require()
        var body: [String: Any] = store.owner
        body["product_id"] = id
        for option in options where ["quantity", "seats"].contains(option.name) {
            body["quantity"] = Int(option.value) ?? 1
        }
        for option in options where option.name == "appAccountToken" { body["app_account_token"] = option.value }
        let payment: SoldPayment = try await store.post("app/purchases", body)
        if let sold = payment.transaction { return .success(.verified(Transaction(sold))) }
        return payment.result == "cancelled" ? .userCancelled : .pending
    }
}

extension VerificationResult where SignedType == Product.SubscriptionInfo.RenewalInfo {
    public var jwsRepresentation: String { unsafePayloadValue.jws }
}

public enum AppStore {
    public struct Environment: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let xcode = Environment(rawValue: "Xcode")
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var refusal: StoreKitError?

    /// The error of each `sync` from now on, which a test sets; `nil` if the customer signs in.
    public static var standInRefusal: StoreKitError? {
        get { lock.withLock { refusal } }
        set { lock.withLock { refusal = newValue } }
    }

    public static func sync() async throws { if let standInRefusal { throw standInRefusal } }

    /// StoreKit's own is not asynchronous, either: the identifier is known when the app runs.
    public static var deviceVerificationID: UUID? { StandInDevice.id }
}

/// The identifier of the device, which a test asks the simulator for.
public enum StandInDevice {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var known: UUID?

    static var id: UUID? { lock.withLock { known } }

    /// As on the devices that have none.
    public static func forget() { lock.withLock { known = nil } }

    /// Asks the simulator for it.
    public static func load() async throws {
        let device: SoldDevice = try await StandInStore.require().get("app/device")
        let id = UUID(uuidString: device.deviceId)
        lock.withLock { known = id }
    }
}

public struct AppTransaction: Sendable {
    public let environment: AppStore.Environment
    public let signedDate: Date
    let jws: String

    /// Known without a purchase, as on a device: the simulator signs one with each transaction, so the newest one is
    /// used.
    public static var shared: VerificationResult<AppTransaction> {
        get async throws {
            let queue: SoldQueue = try await StandInStore.require().get("app/updates", ["after": "0"])
            guard let sold = queue.transactions.last else {
                throw StandInStore.Refusal(status: 404, text: "The customer has bought nothing yet.")
            }
            let environment = AppStore.Environment(rawValue: sold.transaction.environment.capitalized)
            return .verified(
                AppTransaction(environment: environment, signedDate: Date(), jws: sold.evidence.appTransaction))
        }
    }

    /// Brings a new app transaction. Like Apple's, it writes no receipt.
    public static func refresh() async throws -> VerificationResult<AppTransaction> { try await shared }
}

extension VerificationResult where SignedType == AppTransaction {
    public var jwsRepresentation: String { unsafePayloadValue.jws }
}
