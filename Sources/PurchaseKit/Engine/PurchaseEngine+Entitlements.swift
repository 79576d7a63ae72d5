public import Foundation
import PurchaseMessages
import PurchaseVerification

extension PurchaseEngine {
    /// The customer's current entitlements, one for each product.
    ///
    /// With a server, its last signed answers count, also offline: until their `until`, and at most seven days after they
    /// arrived. They are verified again each time. A product that no answer names counts as granted on this device, for the same
    /// seven days.
    ///
    /// - Throws: `PurchaseError` with the code `store_damaged` or `store_failed`.
    public func entitlements() throws -> [PurchaseEntitlement] {
        try load()
        let now = trustedNow()
        var found: [String: PurchaseEntitlement] = [:]
        for stored in record.answers.reversed() where server != nil && isOfCustomer(stored.customerID) {
            let age = now.timeIntervalSince(stored.receivedAt)
            let (entitlements, signedAt) = messages(of: stored)
            for entitlement in Self.shown(entitlements) where found[entitlement.productID] == nil {
                // An answer from before the refund does not outlive it.
                let isEnded = record.granted.contains {
                    $0.endedAt != nil && $0.key.transactionID.isSame(as: entitlement.transactionID)
                }
                let until = entitlement.until.flatMap { Timestamp($0)?.date }
                found[entitlement.productID] = PurchaseEntitlement(
                    productID: entitlement.productID, environment: entitlement.environment.rawValue,
                    // The remaining time is counted by the server's clock, because the device's can be wrong by years.
                    isActive: age <= offlineSeconds && !isEnded && entitlement.state == .active
                        && (until.map { age < $0.timeIntervalSince(signedAt) } ?? true),
                    until: until, balance: entitlement.balance, source: .server)
            }
        }
        for (product, purchases) in Dictionary(grouping: grantedPurchases(), by: \.productID)
        where found[product] == nil {
            found[product] = localEntitlement(product, purchases, now)
        }
        return found.values.sorted { $0.productID < $1.productID }
    }

    /// One entitlement for each product of an answer. Purchases of one product can be of several kinds and environments: an active
    /// one comes first, with the balance of the consumable.
    private static func shown(_ entitlements: [EntitlementMessage]) -> [EntitlementMessage] {
        var shown: [EntitlementMessage] = []
        for entitlement in entitlements {
            guard let place = shown.firstIndex(where: { $0.productID == entitlement.productID }) else {
                shown.append(entitlement)
                continue
            }
            let known = shown[place]
            if known.state != .active, entitlement.state == .active { shown[place] = entitlement }
            shown[place].balance = [known.balance, entitlement.balance].compactMap(\.self).max()
        }
        return shown
    }

    /// The remaining units of a consumable. The server's number wins.
    public func balance(of productID: String) throws -> Int64 {
        if let balance = try entitlements().first(where: { $0.productID == productID })?.balance { return balance }
        return 0
    }

    /// Uses up units of a consumable, without a server. With one, the app's backend consumes them.
    ///
    /// - Parameters:
    ///   - quantity: how many units, at least 1.
    ///   - productID: the consumable.
    ///   - consumptionID: a name for this use. A repeated call with the same name changes nothing.
    public func consume(_ quantity: Int64 = 1, of productID: String, consumptionID: String) throws {
        try load()
        guard server == nil else { throw PurchaseError(.consumedByServer) }
        guard quantity >= 1, !consumptionID.isEmpty else {
            throw PurchaseError(.fieldMissing, expected: "a quantity from 1, and a consumption id")
        }
        guard !record.consumed.contains(where: { $0.consumptionID == consumptionID }) else { return }
        let balance = try balance(of: productID)
        guard balance >= quantity else {
            throw PurchaseError(.balanceInsufficient, expected: "\(quantity)", found: "\(balance)")
        }
        try change {
            $0.consumed.append(
                ConsumedUnits(consumptionID: consumptionID, productID: productID, quantity: quantity))
        }
    }

    /// Ends purchases granted on this device whose products the App Store withdraws without a transaction, and reports each as
    /// `revoked`. Consumables stay, because they may be used up. A restore or the server's next answer corrects it.
    public func withdraw(_ productIDs: [String]) {
        let now = trustedNow()
        var ended: [GrantedPurchase] = []
        let isStored = changes { record in
            let keys = record.granted.filter { productIDs.contains($0.productID) && $0.kind != .consumable }.map(\.key)
            for key in keys { if let purchase = record.end(key, at: now) { ended.append(purchase) } }
        }
        guard isStored else { return }
        for purchase in ended {
            emit(PurchaseEvent(.revoked, productID: purchase.productID, error: PurchaseError(.purchaseRevoked)))
        }
    }

    /// The purchases that were granted on this device to the customer who is signed in; without a server, all of them.
    public func purchases() throws -> [GrantedPurchase] {
        try load()
        return grantedPurchases()
    }

    // MARK: Moving

    /// Everything that was granted and consumed, as JSON, without evidence: for another device, or another store.
    public func exportPurchases() throws -> Data {
        try load()
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(ExportedPurchases(granted: record.granted, consumed: record.consumed))
    }

    /// Adds exported purchases. A purchase that is already in the record is not added again.
    ///
    /// The text is believed, so it must come from a place that the customer cannot write to.
    public func importPurchases(_ data: Data) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        let exported = try decoder.decode(ExportedPurchases.self, from: data)
        try change { record in
            for purchase in exported.granted { record.add(purchase) }
            for units in exported.consumed
            where !record.consumed.contains(where: { $0.consumptionID == units.consumptionID }) {
                record.consumed.append(units)
            }
        }
    }

    /// Adds purchases that the app stored before it used the kit, such as those of RMStore's persistor. Give each a transaction id: a
    /// repeated call then adds nothing.
    public func adopt(_ purchases: [GrantedPurchase]) throws {
        try change { record in
            for purchase in purchases { record.add(purchase) }
        }
    }

    private struct ExportedPurchases: Codable {
        var granted: [GrantedPurchase]
        var consumed: [ConsumedUnits]
    }

    // MARK: Diagnostics

    /// The state of the kit for an error report.
    public func diagnostics() throws -> PurchaseDiagnostics {
        try load()
        return PurchaseDiagnostics(
            startedPurchases: record.started.count,
            waiting: record.outbox.map { entry in
                PurchaseDiagnostics.Waiting(
                    transactionID: entry.transaction.transactionID, productID: entry.transaction.productID,
                    environment: entry.transaction.environment, attempts: entry.attempts,
                    nextAttempt: entry.nextAttempt, code: entry.code?.rawValue, isDecided: entry.decision != nil,
                    hasCustomer: entry.customerID != nil, hasOrder: entry.orderID != nil)
            },
            grantedPurchases: record.granted.count, storedAnswers: record.answers.count, isSignedIn: customer != nil,
            clockMark: record.clockMark, isClockBehind: record.clockMark.map { time.now < $0 } ?? false)
    }

    // MARK: Helpers

    /// The products that a stored answer names.
    func products(of stored: PurchaseRecord.StoredAnswer) -> Set<String> {
        Set(messages(of: stored).entitlements.map(\.productID))
    }

    /// The entitlements in a stored answer, and when it was signed; nothing if its signature no longer verifies, for example
    /// after the pinned keys changed.
    private func messages(
        of stored: PurchaseRecord.StoredAnswer
    ) -> (entitlements: [EntitlementMessage], signedAt: Date) {
        guard let server else { return ([], .distantPast) }
        do {
            let signedAt = Date(timeIntervalSince1970: Double(try stored.answer.verify(server.answerKeys)))
            let data = stored.answer.body
            guard !stored.isRestore else {
                return (try JSONDecoder().decode(RestoreAnswer.self, from: data).entitlements, signedAt)
            }
            let answer = try JSONDecoder().decode(PurchaseAnswer.self, from: data)
            return (answer.entitlement.map { [$0] } ?? [], signedAt)
        } catch {
            return ([], .distantPast)
        }
    }

    private func isOfCustomer(_ customerID: String?) -> Bool {
        server == nil || (customer.map { $0.id == customerID } ?? false)
    }

    private func grantedPurchases() -> [GrantedPurchase] { record.granted.filter { isOfCustomer($0.customerID) } }

    private func localEntitlement(
        _ product: String, _ purchases: [GrantedPurchase], _ now: Date
    ) -> PurchaseEntitlement {
        let kept = purchases.filter { $0.endedAt == nil }
        let counting = kept.filter { purchase in
            (purchase.expirationDate.map { now < $0 } ?? true)
                && (server == nil || now.timeIntervalSince(purchase.grantedAt) <= offlineSeconds)
        }
        var entitlement = PurchaseEntitlement(
            productID: product, environment: purchases.last?.key.environment, isActive: !counting.isEmpty,
            until: counting.compactMap(\.expirationDate).max(), source: .device)
        if purchases.contains(where: { $0.kind == .consumable }) {
            let bought = kept.reduce(Int64(0)) { $0 + $1.quantity }
            let used = record.consumed.filter { $0.productID == product }.reduce(Int64(0)) { $0 + $1.quantity }
            let balance = max(0, bought - used)
            entitlement.balance = balance
            entitlement.isActive = entitlement.isActive && balance > 0
        }
        return entitlement
    }

    /// The time by which entitlements end. It never goes back, and follows the uptime while the app runs. So setting the clock
    /// back extends an entitlement only while the app is not running.
    func trustedNow() -> Date {
        let uptime = time.uptime
        var now = max(time.now, record.clockMark ?? .distantPast)
        if let seen = seenTime { now = max(now, seen.date.addingTimeInterval(max(0, uptime - seen.uptime))) }
        seenTime = (now, uptime)
        // Stored once a minute, not for every call.
        if now.timeIntervalSince(record.clockMark ?? .distantPast) >= 60 { _ = changes { $0.clockMark = now } }
        return now
    }
}
