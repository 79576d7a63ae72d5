// What the adapters take from StoreKit, with the availability and the isolation that Apple declares (Apple,
// "StoreKit"), without an implementation, for dev/availability/compiler.py.

public import Foundation
public import SwiftUI

#if os(macOS)
    public import AppKit
#elseif !os(watchOS)
    public import UIKit
#endif

public enum VerificationResult<SignedType> {
    case unverified(SignedType, any Error)
    case verified(SignedType)

    public var unsafePayloadValue: SignedType { fatalError() }
    public var jwsRepresentation: String { fatalError() }
}

extension VerificationResult: Sendable where SignedType: Sendable {}

/// Each of Apple's sequences is a type of its own.
public struct Updates<Element: Sendable>: AsyncSequence, Sendable {
    public struct AsyncIterator: AsyncIteratorProtocol { public mutating func next() async -> Element? { nil } }
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
}

public enum StoreKitError: Error { case unknown, userCancelled, notAvailableInStorefront }

public struct Transaction: Sendable {
    public let id, originalID: UInt64
    public let productID: String
    public let subscriptionGroupID: String?
    public let purchasedQuantity: Int
    public let appAccountToken: UUID?
    public let purchaseDate: Date
    public let expirationDate, revocationDate: Date?
    public let isUpgraded: Bool
    public let productType: Product.ProductType
    @available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
    public var environment: AppStore.Environment { fatalError() }
    public func finish() async {}

    public enum RefundRequestStatus: Sendable { case success, userCancelled }
    public enum RefundRequestError: Error { case duplicateRequest, failed }

    public typealias Transactions = Updates<VerificationResult<Transaction>>
    public static let unfinished = Transactions(), currentEntitlements = Transactions(), updates = Transactions()
    public static func latest(for productID: String) async -> VerificationResult<Transaction>? { nil }
}

public struct Product: Sendable {
    public let id, displayName, description, displayPrice: String
    public let price: Decimal
    public let type: ProductType
    public let priceFormatStyle: Decimal.FormatStyle.Currency
    public let subscriptionPeriodFormatStyle: Date.ComponentsFormatStyle
    public let subscription: SubscriptionInfo?

    public static func products(for identifiers: some Collection<String>) async throws -> [Product] { fatalError() }

    public struct ProductType: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) {}
        public static let consumable = Self(rawValue: ""), nonConsumable = Self(rawValue: "")
        public static let nonRenewable = Self(rawValue: ""), autoRenewable = Self(rawValue: "")
    }

    public struct SubscriptionPeriod: Sendable, Hashable {
        public enum Unit: Sendable, Hashable { case day, week, month, year }
        public let unit: Unit
        public let value: Int
        public func formatted(_: Date.ComponentsFormatStyle, referenceDate: Date = Date()) -> String { fatalError() }
    }

    public struct SubscriptionOffer: Sendable, Hashable {
        public struct OfferType: RawRepresentable, Sendable, Hashable {
            public let rawValue: String
            public init(rawValue: String) {}
            public static let introductory = Self(rawValue: ""), promotional = Self(rawValue: "")
            @available(iOS 18.0, macOS 15.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
            public static var winBack: OfferType { fatalError() }
        }
        public struct PaymentMode: RawRepresentable, Sendable, Hashable {
            public let rawValue: String
            public init(rawValue: String) {}
            public static let payAsYouGo = Self(rawValue: ""), payUpFront = Self(rawValue: "")
            public static let freeTrial = Self(rawValue: "")
        }
        public let id: String?
        public let type: OfferType
        public let price: Decimal
        public let displayPrice: String
        public let period: SubscriptionPeriod
        public let periodCount: Int
        public let paymentMode: PaymentMode
    }

    public struct SubscriptionInfo: Sendable {
        public let introductoryOffer: SubscriptionOffer?
        public let promotionalOffers: [SubscriptionOffer]
        @available(iOS 18.0, macOS 15.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
        public var winBackOffers: [SubscriptionOffer] { fatalError() }
        public let subscriptionGroupID: String
        public let subscriptionPeriod: SubscriptionPeriod
        @available(iOS 26.4, macOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *)
        public var pricingTerms: [PricingTerms] { fatalError() }
        @available(iOS 26.4, macOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *)
        public struct PricingTerms: Sendable {
            public var billingPlanType: BillingPlanType { fatalError() }
            // Deprecated since 27.3 of each system.
            public var billingPrice: Decimal { fatalError() }
            public var billingDisplayPrice: String { fatalError() }
            public var commitmentInfo: CommitmentInfo { fatalError() }
        }
        @available(iOS 26.4, macOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *)
        public struct CommitmentInfo: Sendable {
            public var price: Decimal { fatalError() }
            public var displayPrice: String { fatalError() }
        }
        @available(iOS 26.4, macOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *)
        public struct BillingPlanType: RawRepresentable, Sendable, Hashable {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }
            public static let monthly = BillingPlanType(rawValue: "monthly")
            public static let upFront = BillingPlanType(rawValue: "upFront")
        }
        public var isEligibleForIntroOffer: Bool { get async { fatalError() } }
        public var status: [Status] { get async throws { fatalError() } }
        public static func status(for groupID: String) async throws -> [Status] { fatalError() }

        public struct Status: Sendable {
            public static let updates = Updates<Status>()
            public let transaction: VerificationResult<Transaction>
            public let renewalInfo: VerificationResult<RenewalInfo>
        }
        public struct RenewalInfo: Sendable {
            @available(iOS 18.0, macOS 15.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
            public var eligibleWinBackOfferIDs: [String] { fatalError() }
        }
    }

    public struct PurchaseOption: Sendable, Hashable {
        public static func appAccountToken(_ token: UUID) -> PurchaseOption { fatalError() }
        public static func quantity(_ quantity: Int) -> PurchaseOption { fatalError() }
        public static func simulatesAskToBuyInSandbox(_ simulates: Bool) -> PurchaseOption { fatalError() }
        public static func promotionalOffer(
            offerID: String, keyID: String, nonce: UUID, signature: Data, timestamp: Int
        ) -> PurchaseOption { fatalError() }
        public static func promotionalOffer(_ offerID: String, compactJWS: String) -> [PurchaseOption] { fatalError() }
        public static func introductoryOfferEligibility(compactJWS: String) -> PurchaseOption { fatalError() }
        @available(iOS 18.0, macOS 15.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
        public static func winBackOffer(_ offer: SubscriptionOffer) -> PurchaseOption { fatalError() }
        public static func seats(_ targetSeatQuantity: Int) -> PurchaseOption { fatalError() }
        @available(iOS 26.4, macOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *)
        public static func billingPlanType(_ type: SubscriptionInfo.BillingPlanType) -> PurchaseOption { fatalError() }
    }

    public enum PurchaseError: Error { case productUnavailable, purchaseNotAllowed, ineligibleForOffer }

    public enum PurchaseResult: Sendable { case success(VerificationResult<Transaction>), userCancelled, pending }

    @available(visionOS, unavailable)
    @MainActor public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult { fatalError() }

    #if os(macOS)
        @available(macOS 15.2, *)
        @MainActor public func purchase(
            confirmIn window: NSWindow, options: Set<PurchaseOption> = []
        ) async throws -> PurchaseResult { fatalError() }
    #elseif !os(watchOS)
        @available(iOS 17.0, macCatalyst 17.0, tvOS 17.0, visionOS 1.0, *)
        @MainActor public func purchase(
            confirmIn scene: some UIScene, options: Set<PurchaseOption> = []
        ) async throws -> PurchaseResult { fatalError() }
        @available(iOS 18.2, macCatalyst 18.2, tvOS 18.2, visionOS 2.2, *)
        @MainActor public func purchase(
            confirmIn viewController: UIViewController, options: Set<PurchaseOption> = []
        ) async throws -> PurchaseResult { fatalError() }
    #endif
}

// Of SwiftUI's part of StoreKit.
@available(iOS 17.0, macOS 14.0, macCatalyst 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
extension View {
    public func inAppPurchaseOptions(
        _ options: ((Product) async -> Set<Product.PurchaseOption>)?
    ) -> some View { self }
    public func onInAppPurchaseCompletion(
        perform action: ((Product, Result<Product.PurchaseResult, any Error>) async -> Void)? = nil
    ) -> some View { self }
}

#if os(iOS) || os(macOS)
    extension View {
        @available(iOS 27.3, macOS 27.3, *)
        public nonisolated func multiSeatInvitationSheet(
            isPresented: Binding<Bool>, subscriptionGroupID: String,
            onCompletion: @escaping @MainActor (Result<Void, any Error>) -> Void = { _ in }
        ) -> some View { self }
    }
#endif

#if os(iOS) || os(visionOS)
    extension View {
        @available(iOS 15.0, macCatalyst 15.0, visionOS 1.0, *)
        public func manageSubscriptionsSheet(isPresented: Binding<Bool>) -> some View { self }
        @available(iOS 15.0, macCatalyst 15.0, visionOS 1.0, *)
        public func refundRequestSheet(
            for transactionID: UInt64, isPresented: Binding<Bool>,
            onDismiss: ((Result<Transaction.RefundRequestStatus, Transaction.RefundRequestError>) -> Void)? = nil
        ) -> some View { self }
        @available(iOS 16.0, macCatalyst 16.0, visionOS 1.0, *)
        public func offerCodeRedemption(
            isPresented: Binding<Bool>, onCompletion: @escaping (Result<Void, any Error>) -> Void = { _ in }
        ) -> some View { self }
    }
#endif

// What the environment's `purchase` is.
@available(iOS 17.0, macOS 14.0, macCatalyst 17.0, tvOS 17.0, watchOS 10.0, visionOS 1.0, *)
@MainActor @preconcurrency public struct PurchaseAction {
    public func callAsFunction(
        _ product: Product, options: Set<Product.PurchaseOption> = []
    ) async throws -> Product.PurchaseResult { fatalError() }
}

public enum AppStore {
    public struct Environment: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) {}
        public static let xcode = Environment(rawValue: "Xcode")
    }
    public static func sync() async throws {}
    public static var deviceVerificationID: UUID? { fatalError() }
}

@available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
public struct AppTransaction: Sendable {
    public let environment: AppStore.Environment
    public let signedDate: Date
    public static var shared: VerificationResult<AppTransaction> { get async throws { fatalError() } }
    public static func refresh() async throws -> VerificationResult<AppTransaction> { fatalError() }
}

#if os(iOS) || os(macOS)
    @available(iOS 16.4, macOS 14.4, macCatalyst 16.4, *)
    public struct PurchaseIntent: Sendable {
        public let product: Product
        @available(iOS 18.0, macOS 15.0, macCatalyst 18.0, *)
        public var offer: Product.SubscriptionOffer? { fatalError() }
        public static var intents: Updates<PurchaseIntent> { fatalError() }
    }
#endif

// The original API. Apple's classes are not Sendable.

open class SKProduct: NSObject { public let productIdentifier = "", localizedTitle = "", localizedDescription = "" }

@available(watchOS 6.2, *)
open class SKPaymentDiscount: NSObject {
    public init(identifier: String, keyIdentifier: String, nonce: UUID, signature: String, timestamp: NSNumber) {}
}

open class SKPayment: NSObject {
    public let productIdentifier = ""
    public var quantity: Int { fatalError() }
    public var applicationUsername: String? { fatalError() }
}

open class SKMutablePayment: SKPayment {
    public convenience init(product: SKProduct) { fatalError() }
    public override var quantity: Int { get { fatalError() } set {} }
    public override var applicationUsername: String? { get { fatalError() } set {} }
    public var simulatesAskToBuyInSandbox = false
    public var paymentDiscount: SKPaymentDiscount?
}

public enum SKPaymentTransactionState: Int, Sendable { case purchasing, purchased, failed, restored, deferred }

open class SKPaymentTransaction: NSObject {
    public let payment = SKPayment(), transactionState = SKPaymentTransactionState.purchased
    public let transactionIdentifier: String? = nil, transactionDate: Date? = nil
    public let original: SKPaymentTransaction? = nil, error: (any Error)? = nil
    #if os(iOS) && !targetEnvironment(macCatalyst)
        public let transactionReceipt: Data? = nil
    #endif
}

public protocol SKPaymentTransactionObserver: NSObjectProtocol {
    func paymentQueue(_ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction])
}

open class SKPaymentQueue: NSObject {
    open class func `default`() -> SKPaymentQueue { fatalError() }
    public let transactions = [SKPaymentTransaction]()
    public func add(_ observer: any SKPaymentTransactionObserver) {}
    public func remove(_ observer: any SKPaymentTransactionObserver) {}
    public func add(_ payment: SKPayment) {}
    public func finishTransaction(_ transaction: SKPaymentTransaction) {}
    public func restoreCompletedTransactions() {}
}

public protocol SKRequestDelegate: NSObjectProtocol {}

open class SKRequest: NSObject {
    public weak var delegate: (any SKRequestDelegate)?
    public func start() {}
}

public protocol SKProductsRequestDelegate: SKRequestDelegate {
    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse)
}

open class SKProductsResponse: NSObject { public let products = [SKProduct]() }
open class SKProductsRequest: SKRequest { public init(productIdentifiers: Set<String>) {} }
open class SKReceiptRefreshRequest: SKRequest { public init(receiptProperties: [String: Any]?) {} }
