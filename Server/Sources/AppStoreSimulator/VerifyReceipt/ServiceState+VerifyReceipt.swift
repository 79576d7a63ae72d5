import Crypto
import EvidenceMint
import Foundation
import PurchaseAPI
import TextFormats

extension ServiceState {
    /// Answers a request. The receipt is looked up by its digest among the issued evidence; content from a request is
    /// never trusted.
    /// - Parameters:
    ///   - environment: which of the two addresses was asked.
    ///   - world: the real time, which gives the request its milliseconds.
    mutating func verifyReceipt(
        _ body: Data, at environment: StoreEnvironment, by issuer: EvidenceIssuer, _ world: Date
    ) throws -> VerifyReceiptAnswer {
        let fault = AnswerFault.take(from: &settings.answerFaults, at: store.now)
        let request: VerifyReceiptRequest
        do {
            try WrittenJSON.checkLimits(of: [UInt8](body))
            request = try JSONDecoder().decode(VerifyReceiptRequest.self, from: body)
        } catch {
            return VerifyReceiptAnswer(json: VerifyReceiptResponse(status: .notPosted).json(), fault: fault)
        }
        let sent = Self.receipt(request.receiptText)
        let record = sent.flatMap { evidence[IssuedEvidence.digest(of: $0)] }
        if let fault, fault.kind == .status {
            let names = try record.map { try store.app($0.bundleID).environmentNames } ?? .simulator
            return VerifyReceiptAnswer(
                json: try forced(fault, record, names.name(of: environment), issuer, world), fault: fault)
        }
        let asked = fault?.kind == .anotherReceipt ? record.map(another) : record
        let json = try truth(request, sent, asked, at: environment, by: issuer, world)
        if let fault, fault.kind == .edited {
            return VerifyReceiptAnswer(json: try (fault.edit ?? .expiry).applied(to: json), fault: fault)
        }
        return VerifyReceiptAnswer(json: json, fault: fault)
    }

    /// Another receipt of the same app, kind and environment; the first by its digest that has other purchases. If the
    /// store issued none, the same receipt without purchases.
    private func another(_ record: IssuedEvidence) -> IssuedEvidence {
        let others = evidence.sorted { other in
            other.fault == nil && other.kind == record.kind && other.bundleID == record.bundleID
                && other.environment == record.environment
                && other.transactions.map(\.transactionID) != record.transactions.map(\.transactionID)
        }
        if let other = others.first { return other }
        var empty = record
        empty.transactions = []
        return empty
    }

    private mutating func truth(
        _ request: VerifyReceiptRequest, _ sent: [UInt8]?, _ record: IssuedEvidence?,
        at environment: StoreEnvironment, by issuer: EvidenceIssuer, _ world: Date
    ) throws -> [UInt8] {
        guard let record, record.fault == nil else {
            return VerifyReceiptResponse(status: Self.statusOfStrangeData(sent, record)).json()
        }
        guard record.environment == environment else {
            return VerifyReceiptResponse(
                status: environment == .production ? .sandboxReceiptAtProduction : .productionReceiptAtSandbox
            ).json()
        }
        let app = try store.app(record.bundleID)
        let current = store.currentTransactions(of: record.bundleID, record.customerID)
        let hasSubscriptions = (current + record.transactions).contains { $0.kind == .autoRenewable }
        guard Self.isSecretRight(request.password, app.sharedSecret, isNeeded: hasSubscriptions) else {
            return VerifyReceiptResponse(status: .secretMismatch).json()
        }
        switch record.kind {
        case .transactionReceipt: return try transactionReceiptAnswer(record, app, by: issuer)
        case .appReceipt:
            var response = VerifyReceiptResponse(status: .valid)
            response.environment = app.environmentNames.name(of: record.environment)
            response.receipt = try receiptAnswer(record, app, requestDate: AppleDate(max(store.now, clock.now(world))))
            try addLatestState(to: &response, record, current, request.excludesOldTransactions, by: issuer)
            return response.json()
        }
    }

    /// `receipt`: the signed content, without later events.
    private func receiptAnswer(
        _ record: IssuedEvidence, _ app: StoreApp, requestDate: AppleDate
    ) throws -> VerifyReceiptResponse.Receipt {
        let customer = try store.customer(record.customerID)
        let receipt = record.receipt(record.transactions, at: record.creationDate)
        let product = { (transaction: StoreTransaction) -> StoreProduct? in
            // If the product is unknown, its evidence uses the fields of the transaction.
            try? store.product(transaction.productID, of: transaction.bundleID)
        }
        let template = AppReceiptTemplate(
            receipt, transactions: record.transactions, app: app, customer: customer, products: product,
            creationDate: record.creationDate, sentDate: record.creationDate)
        return VerifyReceiptResponse.Receipt(record, template: template, requestDate: requestDate)
    }

    /// `latest_receipt_info` and `latest_receipt`: the present state of the store. Only with subscriptions,
    /// `pending_renewal_info`.
    private mutating func addLatestState(
        to response: inout VerifyReceiptResponse, _ record: IssuedEvidence, _ current: [StoreTransaction],
        _ excludesOld: Bool, by issuer: EvidenceIssuer
    ) throws {
        var seen: Set<String> = []
        let newestFirst = current.sorted {
            ($0.purchaseDate, $0.transactionID.utf8.count, $0.transactionID)
                > ($1.purchaseDate, $1.transactionID.utf8.count, $1.transactionID)
        }
        response.latestReceiptInfo = newestFirst.compactMap { transaction in
            if excludesOld, transaction.kind == .consumable { return nil }
            if excludesOld, transaction.kind == .autoRenewable,
                !seen.insert(transaction.originalTransactionID).inserted
            {
                return nil
            }
            return VerifyReceiptResponse.InAppPurchase(transaction, isLatest: true)
        }
        let receipt = record.receipt(current, at: store.now)
        let latest = try issuer.appReceipt(
            receipt, transactions: current, in: store, creationDate: store.now, sentDate: record.creationDate)
        evidence[latest.record.digest] = latest.record
        response.latestReceipt = [UInt8](Data(latest.bytes).base64EncodedData())
        let subscriptions = store.state.subscriptions.sorted {
            $0.bundleID == record.bundleID && $0.customerID == record.customerID
        }
        guard !subscriptions.isEmpty else { return }
        response.pendingRenewalInfo = subscriptions.map { subscription in
            VerifyReceiptResponse.PendingRenewalInfo(
                subscription, offer: store.state.transactions[subscription.transactionID]?.offer)
        }
    }

    /// The flat answer to a transaction receipt; of a subscription, with the latest receipt as an object.
    private mutating func transactionReceiptAnswer(
        _ record: IssuedEvidence, _ app: StoreApp, by issuer: EvidenceIssuer
    ) throws -> [UInt8] {
        let customer = try store.customer(record.customerID)
        guard let transaction = record.transactions.first else {
            return VerifyReceiptResponse(status: .notAuthenticated).json()
        }
        let flat = { (transaction: StoreTransaction, store: AppStore) throws -> FlatReceipt in
            let product = try store.product(transaction.productID, of: transaction.bundleID)
            return FlatReceipt(
                TransactionReceiptTemplate(transaction, app: app, customer: customer, product: product))
        }
        var response = VerifyReceiptResponse(status: .valid)
        response.flatReceipt = try flat(transaction, store)
        guard let subscription = store.state.subscriptions[transaction.originalTransactionID] else {
            return response.json()
        }
        let latest = try store.transaction(subscription.transactionID)
        var renewal = FlatRenewalInfo(
            autoRenewProductID: subscription.autoRenewProductID, autoRenews: subscription.autoRenews)
        // Access in a grace period is not paid for.
        if subscription.isUsable, latest.expiresDate.map({ store.now < $0 }) ?? true {
            let signed = try issuer.transactionReceipt(latest, in: store, version: .four)
            evidence[signed.record.digest] = signed.record
            response.latestFlatReceiptInfo = try flat(latest, store)
            response.latestReceipt = [UInt8](Data(signed.bytes).base64EncodedData())
        } else {
            response.status = .expired
            response.latestExpiredReceiptInfo = try flat(latest, store)
            renewal.expirationIntent = subscription.expirationIntent
            renewal.isInBillingRetryPeriod = [.billingRetry, .gracePeriod].contains(subscription.status)
        }
        response.flatRenewalInfo = renewal
        return response.json()
    }

    /// The answer with a requested status: with the receipt if Apple sends one with that status, otherwise only the
    /// status.
    private mutating func forced(
        _ fault: AnswerFault, _ record: IssuedEvidence?, _ environment: String, _ issuer: EvidenceIssuer, _ world: Date
    ) throws -> [UInt8] {
        guard let record, record.fault == nil, fault.status == 0 || fault.status == 21006 else {
            return fault.response(environment: environment).json()
        }
        let app = try store.app(record.bundleID)
        switch record.kind {
        case .transactionReceipt: return try transactionReceiptAnswer(record, app, by: issuer)
        case .appReceipt:
            var response = fault.response(environment: environment)
            response.environment = environment
            response.receipt = try receiptAnswer(record, app, requestDate: AppleDate(max(store.now, clock.now(world))))
            return response.json()
        }
    }

    /// A secret in the request must be right; a missing secret is an error only if the receipt has subscriptions.
    private static func isSecretRight(_ sent: String?, _ secret: String?, isNeeded: Bool) -> Bool {
        guard let secret else { return true }
        guard let sent else { return !isNeeded }
        return SHA256.hash(data: Data(sent.utf8)) == SHA256.hash(data: Data(secret.utf8))
    }

    /// The receipt without its text encoding, read as the core reads it; `nil` if it is neither base64 nor a property
    /// list.
    private static func receipt(_ text: [UInt8]) -> [UInt8]? {
        let text = Base64Text.trimmed(text)
        return text.first == UInt8(ascii: "{") ? Array(text) : Base64Text.decode(text)?.bytes
    }

    /// Malformed or not authentic. For data that the store did not issue, or broke on purpose, only its outermost form
    /// decides.
    private static func statusOfStrangeData(_ sent: [UInt8]?, _ record: IssuedEvidence?) -> VerifyReceiptStatus {
        guard let sent else { return .malformed }
        if let fault = record?.fault, ["truncated", "trailing-bytes", "non-minimal-length"].contains(fault) {
            return .malformed
        }
        // The brace that ends a property list is in none of its values, which are base64.
        let brace = UInt8(ascii: "}")
        let isWhole =
            sent.first == UInt8(ascii: "{")
            ? sent.firstIndex(of: brace) == sent.lastIndex { $0 > 0x20 }
            : sent.first == 0x30 && Base64Text.isWhole(sent)
        return isWhole ? .notAuthenticated : .malformed
    }
}

/// The answer to a request of `verifyReceipt`.
struct VerifyReceiptAnswer: Sendable {
    /// The JSON without a fault of transport.
    let json: [UInt8]
    /// The fault of the transport.
    let fault: AnswerFault?
}

extension AppleDate {
    init(_ date: Date) {
        self.init(millisecondsSince1970: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}

extension VerifyReceiptResponse.Receipt {
    /// The receipt as it was signed.
    init(_ record: IssuedEvidence, template: AppReceiptTemplate, requestDate: AppleDate) {
        self.init()
        receiptType = template.receiptType
        adamID = template.adamID
        bundleID = template.bundleID
        applicationVersion = template.applicationVersion
        downloadID = template.downloadID
        versionExternalIdentifier = template.versionExternalIdentifier
        receiptCreationDate = template.creationDate.map { AppleDate($0) }
        self.requestDate = requestDate
        originalPurchaseDate = template.originalPurchaseDate.map { AppleDate($0) }
        originalApplicationVersion = template.originalApplicationVersion
        expirationDate = template.expirationDate.map { AppleDate($0) }
        inApp = record.transactions.map { VerifyReceiptResponse.InAppPurchase($0, isLatest: false) }
    }
}

extension VerifyReceiptResponse.InAppPurchase {
    /// A transaction in Apple's words.
    /// - Parameter isLatest: whether the entry has the present state of the store, which has more fields than a
    ///   receipt.
    init(_ transaction: StoreTransaction, isLatest: Bool) {
        self.init(productID: transaction.productID, transactionID: transaction.transactionID)
        quantity = transaction.quantity
        originalTransactionID = transaction.originalTransactionID
        purchaseDate = AppleDate(transaction.purchaseDate)
        originalPurchaseDate = AppleDate(transaction.originalPurchaseDate)
        cancellationDate = transaction.receiptCancellationDate.map { AppleDate($0) }
        isTrialPeriod = transaction.isTrialPeriod
        inAppOwnershipType = transaction.ownership.rawValue
        promotionalOfferID = transaction.promotionalOfferID
        if transaction.kind == .autoRenewable {
            expiresDate = transaction.expiresDate.map { AppleDate($0) }
            webOrderLineItemID = transaction.webOrderLineItemID
            isInIntroOfferPeriod = transaction.isInIntroOfferPeriod
        }
        guard isLatest else { return }
        cancellationReason = cancellationDate.map { _ in transaction.revocation?.reason ?? 0 }
        isUpgraded = transaction.isUpgraded
        subscriptionGroupIdentifier = transaction.subscriptionGroupID
        appAccountToken = transaction.appAccountToken
        if transaction.offer?.kind == .offerCode { offerCodeRefName = transaction.offer?.offerID }
    }
}

extension VerifyReceiptResponse.PendingRenewalInfo {
    /// The expected renewal of a subscription.
    init(_ subscription: StoreSubscription, offer: StoreTransaction.Offer?) {
        self.init(
            productID: subscription.productID, originalTransactionID: subscription.originalTransactionID,
            autoRenewProductID: subscription.autoRenewProductID, autoRenews: subscription.autoRenews)
        expirationIntent = subscription.expirationIntent
        if subscription.expirationIntent != nil {
            isInBillingRetryPeriod = subscription.status == .billingRetry || subscription.status == .gracePeriod
        }
        gracePeriodExpiresDate = subscription.gracePeriodExpiresDate.map { AppleDate($0) }
        // Only while the customer has to agree.
        if subscription.isUsable, subscription.priceIncrease?.isAccepted == false { isPriceConsentGiven = false }
        isPriceIncreaseAccepted = subscription.priceIncrease?.isAccepted
        guard subscription.offer != nil, let offer else { return }
        if offer.kind == .offerCode { offerCodeRefName = offer.offerID }
        if offer.kind == .promotional { promotionalOfferID = offer.offerID }
    }
}

extension FlatReceipt {
    /// The content of a transaction receipt.
    init(_ template: TransactionReceiptTemplate) {
        self.init(attributes: template.entries().map { (key: $0.key, value: $0.value) })
    }
}

extension AnswerFault.Edit {
    /// 2099-12-12T12:00:00Z, a date that forgers of answers use.
    private static let lateExpiry = AppleDate(millisecondsSince1970: 4_100_760_000_000)

    /// A true answer with the field changed; the rest stays the same, byte for byte.
    func applied(to json: [UInt8]) throws -> [UInt8] {
        var response = try VerifyReceiptResponse(json: json)
        switch self {
        case .bundle:
            response.receipt?.bundleID = "com.example.other"
            response.flatReceipt?["bid"] = "com.example.other"
        case .environment:
            response.environment = response.environment.map {
                $0.utf8.elementsEqual("Production".utf8) ? "Sandbox" : "Production"
            }
        case .empty:
            response.receipt?.inApp = []
            response.latestReceiptInfo = response.latestReceiptInfo.map { _ in [] }
        case .product, .expiry, .transaction, .quantity, .cancellation:
            let purchases = (response.receipt?.inApp ?? []).map(edited)
            response.receipt?.inApp = purchases
            response.latestReceiptInfo = response.latestReceiptInfo?.map(edited)
            edit(&response.flatReceipt)
            edit(&response.latestFlatReceiptInfo)
        }
        return response.json()
    }

    private func edited(_ purchase: VerifyReceiptResponse.InAppPurchase) -> VerifyReceiptResponse.InAppPurchase {
        var purchase = purchase
        switch self {
        case .product: purchase.productID += ".lifetime"
        case .expiry: purchase.expiresDate = Self.lateExpiry
        case .transaction: purchase.transactionID += "7"
        case .quantity: purchase.quantity = (purchase.quantity ?? 1) + 10
        case .cancellation:
            purchase.cancellationDate = nil
            purchase.cancellationReason = nil
        case .bundle, .environment, .empty: break
        }
        return purchase
    }

    private func edit(_ receipt: inout FlatReceipt?) {
        guard var edited = receipt else { return }
        switch self {
        case .product: edited["product_id"] = (edited["product_id"] ?? "") + ".lifetime"
        case .expiry: edited["expires_date"] = "\(Self.lateExpiry.millisecondsSince1970)"
        case .transaction: edited["transaction_id"] = (edited["transaction_id"] ?? "") + "7"
        case .quantity: edited["quantity"] = "11"
        case .cancellation: edited["cancellation_date"] = nil
        case .bundle, .environment, .empty: break
        }
        receipt = edited
    }
}
