import EvidenceMint
import Foundation

extension ServiceState {
    /// How long a `paginationToken` stays valid, in seconds. Apple's pages do not say.
    private static let tokenLife: TimeInterval = 86_400
    /// How far the history reaches back, in days.
    private static func reach(_ environment: StoreEnvironment) -> Double { environment == .production ? 180 : 30 }
    /// How long a test notification can be asked about.
    private static let testLife: TimeInterval = 183 * 86_400

    /// The answer to `POST /inApps/v1/notifications/test`.
    mutating func testNotification(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        guard settings.notifications.url(for: scope.environment) != nil else {
            throw ServerAPIFailure(4_040_007, "The app has no address for notifications in this environment.")
        }
        var wanted = NotificationRequest(type: "TEST", bundleID: scope.app.bundleID)
        wanted.environment = scope.environment
        let event = try store.notify(wanted)
        let token = "\(event.notification?.notificationUUID ?? "")_\(Self.milliseconds(store.now))"
        settings.serverAPI.testNotifications[token] = event.number
        return ServerAPIAnswer([Claim("testNotificationToken", .string(token))])
    }

    /// The answer to `GET /inApps/v1/notifications/test/{token}`.
    mutating func testNotificationStatus(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer
    {
        let token = request.path[0]
        let parts = token.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, UUID(uuidString: String(parts[0])) != nil, Int64(parts[1]) != nil else {
            throw ServerAPIFailure(4_000_020, "The token of the test notification has a wrong form.")
        }
        guard let number = settings.serverAPI.testNotifications[token], let notification = notifications["\(number)"],
            notification.bundleID == scope.app.bundleID, notification.environment == scope.environment,
            notification.date > store.now.addingTimeInterval(-Self.testLife), !notification.attempts.isEmpty
        else {
            throw ServerAPIFailure(4_040_008, "There is no such test notification, or it was not sent yet.")
        }
        return ServerAPIAnswer(try item(notification, scope))
    }

    /// The answer to `POST /inApps/v1/notifications/history`: what was sent, or should have been, oldest first.
    mutating func notificationHistory(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let filter = try NotificationFilter(try request.object())
        let earliest = store.now.addingTimeInterval(-Self.reach(scope.environment) * 86_400)
        guard filter.start >= earliest else {
            throw ServerAPIFailure(4_000_012, "The history reaches back \(Int(Self.reach(scope.environment))) days.")
        }
        let customerID = try filter.transactionID.map { id throws(ServerAPIFailure) in
            String(try owner(id, scope).split(separator: "|").last ?? "")
        }
        let question = [scope.key, request.operation.rawValue] + filter.question
        let text = request.value("paginationToken")
        var token = try PageToken(text, question: question, or: .unknownPaginationToken)
        guard text == nil || token.expiry.map({ Double($0) > store.now.timeIntervalSince1970 }) ?? false else {
            throw ServerAPIFailure(4_000_017, "The pagination token has expired.")
        }
        let after = token.place
        let matching = notifications.values.filter { notification in
            notification.number > after && !notification.isForgedCopy && notification.bundleID == scope.app.bundleID
                && notification.environment == scope.environment && notification.isAttempted
                && filter.admits(notification, customerID)
        }.sorted { $0.number < $1.number }
        let page = Array(matching.prefix(Self.pageSize))
        let hasMore = matching.count > page.count
        token.place = page.last?.number ?? after
        token.expiry = Int64(store.now.addingTimeInterval(Self.tokenLife).timeIntervalSince1970)
        return ServerAPIAnswer([
            "paginationToken": hasMore ? .string(try token.text()) : nil, "hasMore": .boolean(hasMore),
            "notificationHistory": .array(try page.map { .object(try item($0, scope)) }),
        ])
    }

    /// A notification as it was then, with its attempts.
    private mutating func item(_ notification: ScheduledNotification, _ scope: ServerAPIScope) throws -> [Claim] {
        let event = try store.event(notification.number)
        guard let template = try NotificationTemplate(event, in: store) else { return [] }
        let attempts = notification.attemptsOfHistory.map { attempt in
            ClaimValue.object([
                "attemptDate": .integer(Self.milliseconds(attempt.date)),
                "sendAttemptResult": .string(attempt.result.rawValue),
            ])
        }
        return [Claim]([
            "signedPayload": .string(try scope.issuer.signed(template, fault: takeFault(.notification))),
            "sendAttempts": .array(attempts),
        ])
    }
}

extension ScheduledNotification {
    /// Whether the history has it: also one that got lost on its way.
    fileprivate var isAttempted: Bool { !attempts.isEmpty || state == .dropped }

    /// The attempts as the store saw them: a lost one got no answer.
    fileprivate var attemptsOfHistory: [SendAttempt] {
        attempts.isEmpty && state == .dropped ? [SendAttempt(date: date, result: .timedOut)] : attempts
    }
}

/// The body of a request for the notification history.
struct NotificationFilter: Sendable {
    let start: Date
    /// In the customer's name: any of their transactions.
    let transactionID: String?
    /// The body as it must be repeated with a token.
    let question: [String]
    private let end: Date
    private let type: String?
    private let subtype: String?
    private let isOnlyFailures: Bool

    /// - Throws: the failure of the first member of a wrong form.
    init(_ body: APIObject) throws(ServerAPIFailure) {
        let invalidStart = ServerAPIFailure(4_000_015, "The start is no time.")
        let invalidEnd = ServerAPIFailure(4_000_016, "The end is no time.")
        guard let start = HistoryFilter.date(try body.integer("startDate", or: invalidStart) ?? -1) else {
            throw invalidStart
        }
        guard let end = HistoryFilter.date(try body.integer("endDate", or: invalidEnd) ?? -1) else {
            throw invalidEnd
        }
        guard start < end else { throw ServerAPIFailure(4_000_013, "The end is not after the start.") }
        let invalidType = ServerAPIFailure(4_000_018, "There is no such type, or no such subtype of it.")
        let type = try body.string("notificationType", or: invalidType)
        let subtype = try body.string("notificationSubtype", or: invalidType)
        let oldName = try body.string("originalTransactionId", or: .invalidTransactionID)
        let transactionID = try body.string("transactionId", or: .invalidTransactionID) ?? oldName
        guard type == nil || transactionID == nil else {
            throw ServerAPIFailure(4_000_019, "Filter by a type or by a customer, not by both.")
        }
        if let type {
            guard let subtypes = Self.subtypes[type], subtype.map({ subtypes.contains($0) }) ?? true else {
                throw invalidType
            }
        } else if subtype != nil {
            throw invalidType
        }
        let isOnlyFailures = try body.boolean("onlyFailures", or: .generalBadRequest) ?? false
        (self.start, self.end, self.type, self.subtype) = (start, end, type, subtype)
        (self.transactionID, self.isOnlyFailures) = (transactionID, isOnlyFailures)
        question = [
            "\(start.timeIntervalSince1970)", "\(end.timeIntervalSince1970)", type ?? "", subtype ?? "",
            transactionID ?? "", "\(isOnlyFailures)",
        ]
    }

    /// - Parameter customerID: the customer with the transaction.
    func admits(_ notification: ScheduledNotification, _ customerID: String?) -> Bool {
        notification.date >= start && notification.date < end && (type.map { $0 == notification.type } ?? true)
            && (subtype.map { $0 == notification.subtype } ?? true)
            && (customerID.map { $0 == notification.customerID } ?? true)
            && !(isOnlyFailures && notification.state == .accepted)
    }

    /// Apple, "notificationType" and "subtype": the subtypes of each type.
    static let subtypes: [String: Set<String>] = [
        "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"],
        "DID_CHANGE_RENEWAL_PREF": ["UPGRADE", "DOWNGRADE"],
        "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
        "OFFER_REDEEMED": ["UPGRADE", "DOWNGRADE"],
        "DID_RENEW": ["BILLING_RECOVERY"],
        "EXPIRED": ["VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
        "DID_FAIL_TO_RENEW": ["GRACE_PERIOD"],
        "GRACE_PERIOD_EXPIRED": [],
        "PRICE_INCREASE": ["PENDING", "ACCEPTED"],
        "PRICE_CHANGE": [],
        "REFUND": ["SEATS"],
        "REFUND_DECLINED": [],
        "REFUND_REVERSED": [],
        "CONSUMPTION_REQUEST": [],
        "RENEWAL_EXTENDED": [],
        "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
        "REVOKE": [],
        "ONE_TIME_CHARGE": [],
        "TEST": [],
        "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
        "RESCIND_CONSENT": [],
        "METADATA_UPDATE": [],
        "MIGRATION": [],
        "MIGRATE": [],
        "UNCLAIM_SEATS": [],
    ]
}

/// A question to the realtime URL of an app, before it is sent.
struct RetentionRequest: Sendable {
    let url: String
    let signedPayload: String
}

extension ServiceState {
    /// `PUT`, `GET` and `DELETE …/realtime/url` of the Retention Messaging API. Its images, messages and performance
    /// tests are not simulated.
    mutating func realtimeAnswer(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        if request.operation == .setRealtimeURL {
            let invalid = ServerAPIFailure(4_000_215, "The realtime URL is no address.")
            guard let url = try request.object().string("realtimeURL", or: invalid), url.utf8.count <= 256,
                NotificationSettings.isAddress(url)
            else { throw invalid }
            settings.serverAPI.realtimeAddresses[scope.key] = url
            return ServerAPIAnswer(status: 200)
        }
        guard let url = settings.serverAPI.realtimeAddresses[scope.key] else {
            throw ServerAPIFailure(4_040_021, "The app has no realtime URL.")
        }
        guard request.operation == .deleteRealtimeURL else {
            return ServerAPIAnswer(["realtimeURL": .string(url)])
        }
        settings.serverAPI.realtimeAddresses[scope.key] = nil
        return ServerAPIAnswer(status: 200)
    }

    /// The question that the store asks when a customer is about to cancel.
    /// - Throws: `unknown_subscription`, and `wrong_state` if the app has no realtime URL.
    mutating func retentionRequest(
        about originalTransactionID: String, locale: String, by issuer: EvidenceIssuer
    ) throws -> RetentionRequest {
        let subscription = try store.subscription(originalTransactionID)
        let environment = try store.customer(subscription.customerID).environment
        let scope = ServerAPIScope(
            app: try store.app(subscription.bundleID), environment: environment, issuer: issuer)
        guard let url = settings.serverAPI.realtimeAddresses[scope.key] else {
            throw StoreError(
                .wrongState, "The app '\(scope.app.bundleID)' has no realtime URL in the \(environment.rawValue).")
        }
        var template = RealtimeRequestTemplate(
            originalTransactionID: originalTransactionID, productID: subscription.productID,
            environment: scope.environmentName, signedDate: store.signingTime)
        template.appAppleID = Int64(clamping: scope.app.appID)
        template.userLocale = locale
        template.requestIdentifier = UUID().uuidString.lowercased()
        return RetentionRequest(url: url, signedPayload: try issuer.signed(template, fault: takeFault(.notification)))
    }
}
