public import Foundation

extension AppStore {
    /// Records a notification and changes nothing else. Its type decides its object: `EXTERNAL_PURCHASE_TOKEN`,
    /// `RESCIND_CONSENT` and `UNCLAIM_SEATS` have their own, `RENEWAL_EXTENSION` has one with the subtype `SUMMARY`;
    /// all others have `data`, with a transaction except in `TEST` and in types that Apple does not have.
    /// - Throws: `unknown_app`, `unknown_transaction`, `unknown_customer`, `invalid_value`.
    @discardableResult
    public mutating func notify(_ request: NotificationRequest) throws(StoreError) -> StoreEvent {
        _ = try app(request.bundleID)
        try Self.checkWord(request.type, "type")
        if let subtype = request.subtype { try Self.checkWord(subtype, "subtype") }
        let transaction = try request.transactionID.map { id throws(StoreError) in try self.transaction(id) }
        let customer = try (transaction?.customerID ?? request.customerID).map { id throws(StoreError) in
            try self.customer(id)
        }
        try require(
            transaction.map({ $0.bundleID == request.bundleID }) ?? true, .invalidValue,
            "The transaction '\(transaction?.transactionID ?? "")' is of another app than '\(request.bundleID)'.")
        let environment = customer?.environment ?? request.environment ?? .sandbox
        var content = StoreEvent.Notification(
            type: request.type, subtype: request.subtype, notificationUUID: "", environment: environment)
        switch (request.type, request.subtype) {
        case ("RENEWAL_EXTENSION", "SUMMARY"):
            content.object = .summary
            content.summary = StoreEvent.Notification.Summary(
                requestIdentifier: request.requestIdentifier ?? "extension-\(state.summary.events + 1)",
                productID: request.productID, storefrontCountryCodes: request.storefrontCountryCodes,
                succeededCount: request.succeededCount ?? 0, failedCount: request.failedCount ?? 0)
        case ("EXTERNAL_PURCHASE_TOKEN", _):
            content.object = .externalPurchaseToken
            content.externalPurchaseToken = try token(request, environment)
        case ("RESCIND_CONSENT", _):
            content.object = .appData
            guard customer != nil else { throw Self.missing("customer_id", request.type) }
        case ("UNCLAIM_SEATS", _):
            content.object = .unclaimInfo
            content.unclaimedSeats = try Self.seats(request)
        case ("TEST", _): break
        default:
            guard transaction != nil || !Self.typesOfPurchases.contains(request.type) else {
                throw Self.missing("transaction_id", request.type)
            }
        }
        let words = [request.type, request.subtype].compactMap(\.self).joined(separator: " ")
        record(
            .notified, "a notification \(words) of \(request.bundleID)", transaction,
            transaction.flatMap { state.subscriptions[$0.originalTransactionID] }, bundleID: request.bundleID,
            customerID: customer?.customerID, notify: (request.type, request.subtype)
        ) { notification in
            content.notificationUUID = notification.notificationUUID
            notification = content
        }
        return try event(state.summary.events)
    }

    /// Extends the present period of all subscribers of a product, as compensation for an outage. Each subscriber gets
    /// `RENEWAL_EXTENDED`, or `RENEWAL_EXTENSION` with `FAILURE` if the payment of their renewal is late; at the end
    /// comes one `RENEWAL_EXTENSION` with `SUMMARY`.
    /// - Parameters:
    ///   - days: 1 to 90.
    ///   - storefronts: the storefronts of the customers, in three letters each; nil for all.
    ///   - hasCustomersLimits: whether Apple's rules for one customer hold, too: only paid periods, twice in 365 days.
    /// - Returns: the event of the summary.
    /// - Throws: `unknown_product`, `invalid_value`.
    @discardableResult
    public mutating func extendRenewals(
        of productID: String, of bundleID: String, days: Int, environment: StoreEnvironment = .production,
        storefronts: [String]? = nil, requestIdentifier: String? = nil, hasCustomersLimits: Bool = false
    ) throws(StoreError) -> StoreEvent {
        _ = try product(productID, of: bundleID)
        try require((1...90).contains(days), .invalidValue, "A subscription is extended by 1 to 90 days, not \(days).")
        let subscribers = state.subscriptions.sorted {
            $0.bundleID == bundleID && $0.productID == productID && $0.sharedFrom == nil && $0.status != .expired
                && $0.status != .revoked
        }
        var request = NotificationRequest(type: "RENEWAL_EXTENSION", subtype: "SUMMARY", bundleID: bundleID)
        var (succeeded, failed) = (Int64(0), Int64(0))
        for subscription in subscribers {
            let customer = try customer(subscription.customerID)
            guard customer.environment == environment, storefronts?.contains(customer.storefront) ?? true else {
                continue
            }
            if hasCustomersLimits, extensibility(of: subscription) == .extensible {
                _ = try extendRenewalOfCustomer(subscription.originalTransactionID, days: days)
                succeeded += 1
            } else if !hasCustomersLimits, subscription.status == .active {
                try extendRenewal(of: subscription.originalTransactionID, days: days)
                succeeded += 1
            } else {
                record(
                    .extensionFailed, "\(subscription.productID) of \(subscription.customerID) cannot be extended",
                    of: subscription, notify: ("RENEWAL_EXTENSION", "FAILURE"))
                failed += 1
            }
        }
        request.environment = environment
        request.requestIdentifier = requestIdentifier
        request.productID = productID
        request.storefrontCountryCodes = storefronts
        (request.succeededCount, request.failedCount) = (succeeded, failed)
        return try notify(request)
    }

    /// The types of notifications about a purchase.
    static let typesOfPurchases: Set<String> = [
        "SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED", "DID_RENEW", "EXPIRED",
        "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE", "PRICE_CHANGE", "REFUND", "REFUND_DECLINED",
        "REFUND_REVERSED", "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "REVOKE", "ONE_TIME_CHARGE",
        "METADATA_UPDATE", "MIGRATION", "MIGRATE",
    ]

    /// Checks the form of a type or subtype.
    static func checkWord(_ word: String, _ what: String) throws(StoreError) {
        let isFine = word.utf8.allSatisfy {
            $0.isCapital || $0.isDigit
                || $0 == UInt8(ascii: "_")
        }
        guard isFine, (1...64).contains(word.utf8.count) else {
            throw StoreError(.invalidValue, "A \(what) has 1 to 64 capital letters, digits and '_', such as DID_RENEW.")
        }
    }

    private func token(
        _ request: NotificationRequest, _ environment: StoreEnvironment
    ) throws(StoreError) -> StoreEvent.Notification.ExternalPurchaseToken {
        let number = state.summary.events + 1
        let random = UUID(derivedFrom: "external purchase|\(number)|\(state.summary.transactions)").uuidString
            .lowercased()
        let id = request.externalPurchaseID ?? (environment == .sandbox ? "SANDBOX_\(random)" : random)
        // Only the beginning of the identifier states the environment.
        try require(
            (1...255).contains(id.utf8.count) && id.hasPrefix("SANDBOX") == (environment == .sandbox), .invalidValue,
            "An external purchase id has 1 to 255 bytes, and begins with SANDBOX in the sandbox and only there.")
        return StoreEvent.Notification.ExternalPurchaseToken(
            externalPurchaseID: id, creationDate: request.tokenCreationDate ?? now,
            expirationDate: request.tokenExpirationDate,
            tokenType: request.tokenType)
    }

    private static func seats(_ request: NotificationRequest) throws(StoreError) -> [String] {
        guard let seats = request.seatIDs, !seats.isEmpty else { throw missing("seat_ids", request.type) }
        guard seats.count <= 1000, seats.allSatisfy({ UUID(uuidString: $0) != nil }) else {
            throw StoreError(.invalidValue, "'seat_ids' has 1 to 1000 UUIDs.")
        }
        return seats.map { $0.lowercased() }
    }

    private static func missing(_ field: String, _ type: String) -> StoreError {
        StoreError(.invalidValue, "A notification of the type \(type) needs '\(field)'.")
    }
}

/// A notification that a tester causes without anything else.
public struct NotificationRequest: Decodable, Sendable {
    /// `notificationType`, known or not.
    public var type: String
    /// `subtype`, known or not.
    public var subtype: String?
    public var bundleID: String
    /// The environment, if neither a transaction nor a customer has one; the sandbox by default.
    public var environment: StoreEnvironment?
    public var transactionID: String?
    /// The customer that it is about; of `RESCIND_CONSENT`.
    public var customerID: String?
    /// Of `RENEWAL_EXTENSION` with `SUMMARY`.
    public var requestIdentifier: String?
    public var productID: String?
    public var storefrontCountryCodes: [String]?
    public var succeededCount: Int64?
    public var failedCount: Int64?
    /// Of `EXTERNAL_PURCHASE_TOKEN`; a new one by default.
    public var externalPurchaseID: String?
    public var tokenExpirationDate: Date?
    /// Of `EXTERNAL_PURCHASE_TOKEN`; now by default.
    public var tokenCreationDate: Date?
    public var tokenType: String?
    /// Of `UNCLAIM_SEATS`.
    public var seatIDs: [String]?

    /// A notification about an app.
    public init(type: String, subtype: String? = nil, bundleID: String) {
        (self.type, self.subtype, self.bundleID) = (type, subtype, bundleID)
    }
}
