import EvidenceMint
import Foundation

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
