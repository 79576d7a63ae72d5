import EvidenceMint
import Foundation

extension ServiceState {
    /// Schedules the notifications of new events, if there is a server that gets them.
    /// - Parameter earlier: the number of the last event before.
    mutating func scheduleNotifications(after earlier: Int) {
        let last = store.state.summary.events
        guard settings.notifications.url != nil, earlier < last else { return }
        for number in (earlier + 1)...last {
            guard let event = store.state.events["\(number)"], var scheduled = notification(of: event) else { continue }
            scheduled.fault = takeFault(.notification)
            scheduled.nextAttempt = event.date
            for copy in takeNotificationFaults(for: &scheduled) { notifications[copy.key] = copy }
            notifications[scheduled.key] = scheduled
        }
    }

    /// The notification of an event, before its first attempt; nil if no server gets one.
    private func notification(of event: StoreEvent) -> ScheduledNotification? {
        guard let notification = event.notification, let bundleID = event.bundleID else { return nil }
        let customer = event.customerID.flatMap { store.state.customers[$0] }
        return ScheduledNotification(
            number: event.number, notificationUUID: notification.notificationUUID, type: notification.type,
            subtype: notification.subtype, bundleID: bundleID,
            environment: customer?.environment ?? notification.environment ?? .sandbox, customerID: event.customerID,
            transactionID: event.transaction?.transactionID, date: event.date)
    }

    /// The notification of an event.
    /// - Throws: `unknown_event`, and `wrong_state` if it was not sent to a server.
    func scheduledNotification(_ number: Int) throws(StoreError) -> ScheduledNotification {
        let event = try store.event(number)
        guard let notification = notifications["\(number)"] else {
            throw StoreError(
                .wrongState,
                "No notification was sent for event \(number), '\(event.kind.rawValue)'. Set a server with /control/notifications/url, and send it by hand."
            )
        }
        return notification
    }

    /// Sends the notification of an event once more, or for the first time if there was no server.
    /// - Throws: `unknown_event`, `wrong_state`.
    mutating func sendAgain(_ number: Int) throws(StoreError) {
        let event = try store.event(number)
        guard settings.notifications.url != nil else {
            throw StoreError(
                .wrongState, "The simulator knows no server for notifications; set one with /control/notifications/url."
            )
        }
        guard var scheduled = notifications["\(number)"] ?? notification(of: event) else {
            throw StoreError(.wrongState, "No notification is sent for event \(number), '\(event.kind.rawValue)'.")
        }
        try scheduled.sendAgain(store.now)
        notifications[scheduled.key] = scheduled
    }

    /// Applies the first pending fault of each kind, and counts it down.
    /// - Returns: the forged copies.
    private mutating func takeNotificationFaults(
        for notification: inout ScheduledNotification
    ) -> [ScheduledNotification] {
        var copies: [ScheduledNotification] = []
        for kind in NotificationFault.Kind.allCases {
            let fault = NotificationFault.take(from: &settings.notifications.faults) {
                $0.kind == kind && $0.concerns(notification.type)
            }
            guard let fault, fault.hits(notification), notification.state != .dropped else { continue }
            if let copy = fault.apply(to: &notification) { copies.append(copy) }
        }
        return copies
    }

    /// The earliest time at which an attempt is due; nil if none is.
    func earliestAttempt(except sent: Set<String>) -> Date? {
        guard settings.notifications.url != nil else { return nil }
        return notifications.values.lazy.filter { !sent.contains($0.key) }.compactMap(\.nextAttempt).min()
    }

    /// The notifications that are due, in the order in which they are sent: by their due times, the shuffled ones in
    /// random order on the places of the shuffled ones.
    /// - Parameter sent: the keys of notifications that are being sent.
    func dueNotifications(except sent: Set<String>, limit: Int) -> [OutgoingNotification] {
        guard settings.notifications.url != nil else { return [] }
        let addresses = settings.notifications
        let now = store.now
        var due = notifications.values
            .filter { ($0.nextAttempt.map { $0 <= now } ?? false) && !sent.contains($0.key) }
            .sorted {
                ($0.nextAttempt ?? now, $0.number, $0.isForgedCopy ? 0 : 1)
                    < ($1.nextAttempt ?? now, $1.number, $1.isForgedCopy ? 0 : 1)
            }
        let places = due.indices.filter { due[$0].shuffledPlace != nil }
        let shuffled = places.map { due[$0] }.sorted {
            ($0.shuffledPlace ?? 0, $0.number) < ($1.shuffledPlace ?? 0, $1.number)
        }
        for (place, notification) in zip(places, shuffled) { due[place] = notification }
        return due.prefix(limit).compactMap { notification in
            guard let url = addresses.url(for: notification.environment) else { return nil }
            return store.state.events["\(notification.number)"].map {
                OutgoingNotification(
                    key: notification.key, url: url, event: $0, store: store, fault: notification.fault,
                    date: notification.nextAttempt ?? now)
            }
        }
    }

    /// Records attempts. A notification that was deleted in the meantime stays deleted.
    mutating func record(_ attempts: [(key: String, attempt: SendAttempt)]) {
        for (key, attempt) in attempts {
            guard var notification = notifications[key] else { continue }
            notification.record(attempt)
            notifications[key] = notification
        }
    }
}

extension ServiceState {
    /// The notification of an event, as a JSON object: `signed_payload` as sent, and its decoded parts `payload`,
    /// `transaction` and `renewal_info`.
    /// - Throws: `unknown_event`, and `wrong_state` if the event has no notification.
    mutating func notification(of number: Int, by issuer: EvidenceIssuer) throws -> [UInt8] {
        let event = try store.event(number)
        guard let template = try NotificationTemplate(event, in: store) else {
            throw StoreError(.wrongState, "No notification is sent for event \(number), '\(event.kind.rawValue)'.")
        }
        let fault = takeFault(.notification)
        var members = [Claim("signed_payload", .string(try issuer.signed(template, fault: fault)))]
        members.append(Claim("payload", .object(template.claims { _ in "…" })))
        if let signed = template.data?.transaction { members.append(Claim("transaction", .object(signed.claims))) }
        if let signed = template.data?.renewalInfo { members.append(Claim("renewal_info", .object(signed.claims))) }
        if let signed = template.appData?.appTransaction {
            members.append(Claim("app_transaction", .object(signed.claims)))
        }
        return ClaimValue.object(members).json
    }
}

/// Where notifications go, and the pending faults of their delivery.
struct NotificationSettings: Codable, Equatable, Sendable {
    /// The server's address; nil if it gets none.
    var url: String?
    /// The address for the sandbox; nil if it is the same.
    var sandboxAddress: String?
    var faults: [NotificationFault] = []

    /// The address that gets the notifications of an environment.
    func url(for environment: StoreEnvironment) -> String? {
        environment == .sandbox ? sandboxAddress ?? url : url
    }

    /// Checks an address: `http` or `https`, with a host.
    static func check(_ url: String) throws(StoreError) {
        guard isAddress(url) else {
            throw StoreError(
                .invalidValue,
                "'\(String(String.UnicodeScalarView(url.unicodeScalars.prefix(80))))' is not an address of the form http://HOST:PORT/PATH or https://HOST:PORT/PATH."
            )
        }
    }

    static func isAddress(_ url: String) -> Bool {
        guard url.utf8.count <= 2048, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let components = URLComponents(string: url), let host = components.host
        else { return false }
        return ["http", "https"].contains(components.scheme?.lowercased()) && !host.isEmpty
    }
}
