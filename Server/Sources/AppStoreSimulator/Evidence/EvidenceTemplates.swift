import EvidenceMint
import Foundation

extension AppReceiptTemplate {
    /// The receipt on a customer's device.
    /// - Parameters:
    ///   - creationDate: when it is signed.
    ///   - sentDate: the creation date of the receipt that the device sent, if this receipt is a newer one in the
    ///     answer.
    init(
        _ receipt: StoreReceipt, transactions: [StoreTransaction], app: StoreApp, customer: StoreCustomer,
        products: (StoreTransaction) -> StoreProduct?, creationDate: Date, sentDate: Date
    ) {
        let purchases = transactions.map { PurchaseTemplate($0, product: products($0)) }
        let device = UUID(uuidString: customer.deviceID).map(\.bytes) ?? Self.noDevice
        switch customer.environment {
        case .production:
            self = .production(
                bundleID: app.bundleID, creationDate: creationDate, purchases: purchases, device: device)
            adamID = app.appID
            sentReceiptCreationDate = sentDate
            originalPurchaseDate = receipt.originalPurchaseDate
            originalApplicationVersion = receipt.applicationVersion
        case .sandbox:
            self = .sandbox(
                bundleID: app.bundleID, creationDate: creationDate, purchases: purchases, device: device)
        }
        receiptType = app.environmentNames.receiptType(of: customer.environment)
        applicationVersion = receipt.applicationVersion
    }
}

extension StoreTransaction {
    /// Transactions in the order in which a receipt lists them: its own, the DER order of a SET OF (the shorter entry
    /// first, then by their bytes).
    static func inReceiptOrder(
        _ transactions: [StoreTransaction], products: (StoreTransaction) -> StoreProduct?
    ) -> [StoreTransaction] {
        let entries = transactions.map { transaction in
            let template = PurchaseTemplate(transaction, product: products(transaction))
            return (transaction, template.der)
        }
        return entries.sorted { left, right in
            left.1.count == right.1.count ? left.1.lexicographicallyPrecedes(right.1) : left.1.count < right.1.count
        }.map(\.0)
    }
}

extension UUID {
    /// The 16 octets.
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}

extension PurchaseTemplate {
    /// The entry of a transaction in an app receipt.
    init(_ transaction: StoreTransaction, product: StoreProduct?) {
        self.init(
            productID: transaction.productID, transactionID: transaction.transactionID,
            purchaseDate: transaction.purchaseDate)
        quantity = transaction.quantity
        originalTransactionID = transaction.originalTransactionID
        originalPurchaseDate = transaction.originalPurchaseDate
        productType =
            switch transaction.kind {
            case .consumable: .consumable
            case .nonConsumable: .nonConsumable
            case .nonRenewing: .nonRenewingSubscription
            case .autoRenewable: .autoRenewableSubscription
            }
        productAdamID = transaction.environment == .production ? product?.productNumber ?? 0 : 0
        cancellationDate = transaction.receiptCancellationDate
        ownershipType =
            switch transaction.ownership {
            case .purchased: .purchased
            case .familyShared: .familyShared
            // Receipts have no known value for it.
            case .assigned: nil
            }
        isTrialPeriod = transaction.isTrialPeriod
        guard transaction.kind == .autoRenewable else { return }
        expiresDate = transaction.expiresDate
        webOrderLineItemID = transaction.webOrderLineItemID
        isInIntroOfferPeriod = transaction.isInIntroOfferPeriod
        promotionalOfferID = transaction.promotionalOfferID
    }
}

extension StoreTransaction {
    /// The date of the refund, of the end of sharing, or of the upgrade: `cancellation_date` is used for all three. A
    /// receipt has no field for a percentage, so a partly refunded consumable has no such date.
    var receiptCancellationDate: Date? {
        if let revocation, !(revocation.isPartial && kind == .consumable) { return revocation.date }
        return upgradeDate
    }

    /// Attribute 1721 names promotional and win-back offers, and offers that a code gave.
    var promotionalOfferID: String? {
        guard let offer, offer.kind != .introductory else { return nil }
        return offer.offerID
    }
}

extension TransactionReceiptTemplate {
    /// The transaction receipt of a transaction, as the customer's device has it.
    init(_ transaction: StoreTransaction, app: StoreApp, customer: StoreCustomer, product: StoreProduct?) {
        let isProduction = customer.environment == .production
        self.init(
            purchase: PurchaseTemplate(transaction, product: product), bundleID: app.bundleID,
            bundleVersion: app.version, environment: app.environmentNames.name(of: customer.environment),
            vendorIdentifier: UUID(uuidString: customer.deviceID))
        environment = isProduction && app.environmentNames == .apple ? nil : environment
        itemID = product?.productNumber
        appItemID = isProduction ? app.appID : nil
        versionExternalIdentifier = isProduction ? 870_000_001 : nil
        subscriptionGroupIdentifier = transaction.subscriptionGroupID
    }
}

extension SignedTransactionTemplate {
    /// The signed transaction of a transaction, in its present state.
    /// - Parameter isForDevice: whether it goes to the customer's device, which it then names.
    init(
        _ transaction: StoreTransaction, app: StoreApp, customer: StoreCustomer, product: StoreProduct?,
        signedDate: Date, isForDevice: Bool
    ) {
        self.init(
            purchase: PurchaseTemplate(transaction, product: product), bundleID: app.bundleID,
            environment: app.environmentNames.name(of: customer.environment), signedDate: signedDate,
            deviceID: isForDevice ? UUID(uuidString: customer.deviceID) : nil)
        subscriptionGroupIdentifier = transaction.subscriptionGroupID
        appAccountToken = transaction.appAccountToken
        transactionReason = transaction.reason.rawValue
        storefront = customer.storefront
        price = transaction.price
        currency = transaction.currency
        isUpgraded = transaction.isUpgraded ? true : nil
        appTransactionID = app.appTransactionID(of: customer)
        revocationDate = transaction.revocation?.date
        revocationReason = transaction.revocation.map { Int64($0.reason) }
        revocationType = transaction.revocation?.type
        revocationPercentage = transaction.revocation?.percentage
        offerType = transaction.offer.map { Int64($0.kind.number) }
        offerDiscountType = transaction.offer?.mode.rawValue
        offerIdentifier = transaction.promotionalOfferID
        offerPeriod = transaction.offer.flatMap { offer in
            product?.subscription?.offers.first { $0.offerID == offer.offerID }?.period.description
        }
        inAppOwnershipType = transaction.ownership.rawValue
        if let reason = transaction.additionalReason {
            extra.append(Claim("additionalTransactionReason", .string(reason)))
        }
        if let seats = transaction.seats {
            extra.append(Claim("multiSeatInfo", .object(seats.claims(price: transaction.price, transaction.quantity))))
        }
    }
}

extension SignedTransactionTemplate {
    /// The signed transaction of a transaction of the store, signed now.
    init(_ transaction: StoreTransaction, in store: AppStore, isForDevice: Bool) throws(StoreError) {
        self.init(
            transaction, app: try store.app(transaction.bundleID), customer: try store.customer(transaction.customerID),
            product: try store.product(transaction.productID, of: transaction.bundleID), signedDate: store.signingTime,
            isForDevice: isForDevice)
    }
}

extension RenewalInfoTemplate {
    /// The renewal information of a subscription of the store, signed now.
    init(_ subscription: StoreSubscription, in store: AppStore, isForDevice: Bool) throws(StoreError) {
        let transaction = try store.transaction(subscription.transactionID)
        self.init(
            subscription,
            transaction: try SignedTransactionTemplate(transaction, in: store, isForDevice: isForDevice),
            currency: transaction.currency, signedDate: store.signingTime, invitations: transaction.seats?.invitations)
    }

    /// The renewal information of a subscription, in its present state.
    init(
        _ subscription: StoreSubscription, transaction: SignedTransactionTemplate, currency: String?, signedDate: Date,
        invitations: SeatInvitations?
    ) {
        self.init(transaction: transaction)
        self.signedDate = signedDate
        productID = subscription.productID
        autoRenewProductID = subscription.autoRenewProductID
        autoRenewStatus = subscription.autoRenews ? 1 : 0
        expirationIntent = subscription.expirationIntent.map(Int64.init)
        isInBillingRetryPeriod = subscription.status == .billingRetry || subscription.status == .gracePeriod
        gracePeriodExpiresDate = subscription.gracePeriodExpiresDate
        priceIncreaseStatus = subscription.priceIncrease.map { $0.isAccepted ? 1 : 0 }
        recentSubscriptionStartDate = subscription.recentStartDate
        renewalDate = subscription.autoRenews ? subscription.expiresDate : nil
        renewalPrice = subscription.autoRenews ? subscription.priceIncrease?.price ?? subscription.renewalPrice : nil
        self.currency = currency
        offerIdentifier = subscription.offer?.offerID
        offerType = subscription.offer == nil ? nil : transaction.offerType
        offerDiscountType = subscription.offer == nil ? nil : transaction.offerDiscountType
        guard let seats = subscription.renewalSeats, let invitations else { return }
        extra.append(Claim("renewalQuantity", .integer(Int64(clamping: seats))))
        extra.append(
            Claim(
                "multiSeatInfo",
                .object([
                    Claim("invitationManagement", .string(invitations.rawValue)),
                    Claim("renewalPriceTiers", .array([StoreTransaction.Seats.tier(subscription.renewalPrice, seats)])),
                ])))
    }
}

extension StoreTransaction.Seats {
    /// `multiSeatInfo` of a transaction.
    fileprivate func claims(price: Int64, _ quantity: UInt64) -> [Claim] {
        var claims = [
            Claim("invitationManagement", .string(invitations.rawValue)),
            Claim("priceTiers", .array([Self.tier(price, quantity)])),
        ]
        if revoked > 0 { claims.append(Claim("revokedSeatQuantity", .integer(Int64(clamping: revoked)))) }
        return claims
    }

    /// A number of seats at one price.
    fileprivate static func tier(_ price: Int64, _ quantity: UInt64) -> ClaimValue {
        .object([Claim("price", .integer(price)), Claim("quantity", .integer(Int64(clamping: quantity)))])
    }
}

extension AppTransactionTemplate {
    /// The app transaction of an app on a customer's device.
    /// - Parameter isForDevice: whether it goes to the customer's device, which it then names.
    init(_ receipt: StoreReceipt, app: StoreApp, customer: StoreCustomer, signedDate: Date, isForDevice: Bool = true) {
        let isProduction = customer.environment == .production
        self.init(
            bundleID: app.bundleID, creationDate: signedDate,
            environment: app.environmentNames.name(of: customer.environment),
            applicationVersion: receipt.applicationVersion,
            deviceID: isForDevice ? UUID(uuidString: customer.deviceID) : nil)
        appAppleID = isProduction ? Int64(clamping: app.appID) : 0
        versionExternalIdentifier = isProduction ? 870_000_001 : 0
        if isProduction { originalPurchaseDate = receipt.originalPurchaseDate }
        originalApplicationVersion = isProduction ? receipt.applicationVersion : "1.0"
        appTransactionID = app.appTransactionID(of: customer)
    }
}

extension StoreTransaction.Revocation {
    /// The kind in Apple's words (`revocationType`).
    fileprivate var type: String? {
        switch kind {
        case .refund: isPartial ? "REFUND_PRORATED" : "REFUND_FULL"
        case .familySharing: "FAMILY_REVOKE"
        // Apple's pages do not name the value.
        case .assignment: nil
        }
    }
}

extension NotificationTemplate {
    /// The notification that a server receives for an event, signed at the time of the event; nil if it receives none.
    init?(_ event: StoreEvent, in store: AppStore) throws(StoreError) {
        guard let notification = event.notification, let bundleID = event.bundleID else { return nil }
        let app = try store.app(bundleID)
        let customer = try event.customerID.map { id throws(StoreError) in try store.customer(id) }
        let environment = customer?.environment ?? notification.environment ?? .sandbox
        self.init()
        notificationType = notification.type
        subtype = notification.subtype
        notificationUUID = notification.notificationUUID
        signedDate = event.signedAt
        let name = app.environmentNames.name(of: environment)
        let appID = environment == .production ? Int64(clamping: app.appID) : nil
        switch notification.object {
        case nil: data = try Data(event, app, customer, name, appID, in: store)
        case .summary: summary = notification.summary.map { Summary($0, bundleID, name, appID) }
        case .externalPurchaseToken:
            externalPurchaseToken = notification.externalPurchaseToken.map {
                ExternalPurchaseToken($0, bundleID, appID)
            }
        case .appData:
            var content = AppData()
            (content.appAppleID, content.bundleID, content.environment) = (appID, bundleID, name)
            if let customer {
                content.appTransaction = AppTransactionTemplate(
                    try store.receipt(of: bundleID, for: customer.customerID), app: app, customer: customer,
                    signedDate: event.signedAt, isForDevice: false)
            }
            appData = content
        case .unclaimInfo:
            // The encoder has no such object. Its members beside the seats are those of Apple's other objects.
            var members = [Claim("bundleId", .string(bundleID)), Claim("environment", .string(name))]
            if let appID { members.insert(Claim("appAppleId", .integer(appID)), at: 0) }
            let seats = (notification.unclaimedSeats ?? []).map(ClaimValue.string)
            extra = [Claim("unclaimInfo", .object(members + [Claim("unclaimSeatIds", .array(seats))]))]
        }
    }
}

extension NotificationTemplate.Data {
    fileprivate init(
        _ event: StoreEvent, _ app: StoreApp, _ customer: StoreCustomer?, _ environment: String, _ appID: Int64?,
        in store: AppStore
    ) throws(StoreError) {
        self.init()
        appAppleID = appID
        bundleID = app.bundleID
        bundleVersion = app.version
        self.environment = environment
        guard let purchase = event.transaction, let customer else { return }
        let product = try store.product(purchase.productID, of: app.bundleID)
        let signed = SignedTransactionTemplate(
            purchase, app: app, customer: customer, product: product, signedDate: event.signedAt, isForDevice: false)
        transaction = signed
        renewalInfo = event.subscription.map {
            RenewalInfoTemplate(
                $0, transaction: signed, currency: product.currency, signedDate: event.signedAt,
                invitations: purchase.seats?.invitations)
        }
        status = event.subscription.map { Int64($0.status.number) }
        if event.notification?.type == "CONSUMPTION_REQUEST" { consumptionRequestReason = "UNINTENDED_PURCHASE" }
    }
}

extension NotificationTemplate.Summary {
    fileprivate init(
        _ summary: StoreEvent.Notification.Summary, _ bundleID: String, _ environment: String, _ appID: Int64?
    ) {
        self.init()
        requestIdentifier = summary.requestIdentifier
        self.environment = environment
        appAppleID = appID
        self.bundleID = bundleID
        productID = summary.productID
        storefrontCountryCodes = summary.storefrontCountryCodes
        failedCount = summary.failedCount
        succeededCount = summary.succeededCount
    }
}

extension NotificationTemplate.ExternalPurchaseToken {
    fileprivate init(_ token: StoreEvent.Notification.ExternalPurchaseToken, _ bundleID: String, _ appID: Int64?) {
        self.init()
        externalPurchaseID = token.externalPurchaseID
        tokenCreationDate = token.creationDate
        tokenExpirationDate = token.expirationDate
        tokenType = token.tokenType
        appAppleID = appID
        self.bundleID = bundleID
    }
}
