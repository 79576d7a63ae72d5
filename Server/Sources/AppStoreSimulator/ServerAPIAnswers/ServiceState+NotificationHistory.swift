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
        guard notificationSettings.url(for: scope.environment) != nil else {
            throw ServerAPIFailure(4_040_007, "The app has no address for notifications in this environment.")
        }
        var wanted = NotificationRequest(type: "TEST", bundleID: scope.app.bundleID)
        wanted.environment = scope.environment
        let event = try store.notify(wanted)
        let token = "\(event.notification?.notificationUUID ?? "")_\(Self.milliseconds(store.now))"
        serverAPI.testNotifications[token] = event.number
        return ServerAPIAnswer([Claim("testNotificationToken", .string(token))])
    }

    /// The answer to `GET /inApps/v1/notifications/test/{token}`.
    mutating func testNotificationStatus(
        _ request: ServerAPIRequest, _ scope: ServerAPIScope, by issuer: EvidenceIssuer
    ) throws -> ServerAPIAnswer {
        let token = request.path[0]
        let parts = token.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, UUID(uuidString: String(parts[0])) != nil, Int64(parts[1]) != nil else {
            throw ServerAPIFailure(4_000_020, "The token of the test notification has a wrong form.")
        }
        guard let number = serverAPI.testNotifications[token], let notification = notifications["\(number)"],
            notification.bundleID == scope.app.bundleID, notification.environment == scope.environment,
            notification.date > store.now.addingTimeInterval(-Self.testLife), !notification.attempts.isEmpty
        else {
            throw ServerAPIFailure(4_040_008, "There is no such test notification, or it was not sent yet.")
        }
        return ServerAPIAnswer(try item(notification, by: issuer))
    }

    /// The answer to `POST /inApps/v1/notifications/history`: what was sent, or should have been, oldest first.
    mutating func notificationHistory(
        _ request: ServerAPIRequest, _ scope: ServerAPIScope, by issuer: EvidenceIssuer
    ) throws -> ServerAPIAnswer {
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
        var members = [Claim("hasMore", .boolean(hasMore))]
        if hasMore {
            token.place = page.last?.number ?? after
            token.expiry = Int64(store.now.addingTimeInterval(Self.tokenLife).timeIntervalSince1970)
            members.insert(Claim("paginationToken", .string(try token.text())), at: 0)
        }
        let items = try page.map { ClaimValue.object(try item($0, by: issuer)) }
        return ServerAPIAnswer(members + [Claim("notificationHistory", .array(items))])
    }

    /// A notification as it was then, with its attempts.
    private mutating func item(_ notification: ScheduledNotification, by issuer: EvidenceIssuer) throws -> [Claim] {
        let event = try store.event(notification.number)
        guard let template = try NotificationTemplate(event, in: store) else { return [] }
        let attempts = notification.attemptsOfHistory.map { attempt in
            ClaimValue.object([
                Claim("attemptDate", .integer(Self.milliseconds(attempt.date))),
                Claim("sendAttemptResult", .string(attempt.result.rawValue)),
            ])
        }
        return [
            Claim("signedPayload", .string(try issuer.signed(template, fault: takeFault(.notification)))),
            Claim("sendAttempts", .array(attempts)),
        ]
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
