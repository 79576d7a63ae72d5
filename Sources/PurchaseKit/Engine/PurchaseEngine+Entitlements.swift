import Foundation

extension PurchaseEngine {
    /// The customer's current entitlements, one for each product.
    ///
    /// With a server, the newest of its signed answers count, also offline: until their end, and as long as `offline`
    /// allows. A product that no answer names, and every product without a server, counts as granted on this device. A
    /// period that has ended counts until a look at the current evidence, at most for the leeway of `offline`; without
    /// a server also while StoreKit lists it as current. Purchases of another environment than the app's do not count,
    /// except those of production.
    ///
    /// - Throws: `PurchaseError` with the code `store_failed`.
    public func entitlements() throws -> [PurchaseEntitlement] {
        try load()
        return entitlements(at: trustedNow())
    }

    func entitlements(at now: Date) -> [PurchaseEntitlement] {
        var found: [String: PurchaseEntitlement] = [:]
        for stored in record.entitlements
        where server != nil && isOfCustomer(stored.customerID) && isOfThisApp(stored.environment) {
            let shown = entitlement(stored, now)
            let known = found[stored.productID]
            if known == nil || (known?.isActive == false && shown.isActive) { found[stored.productID] = shown }
        }
        let granted = grantedPurchases().filter { isOfThisApp($0.key.environment) }
        var products = Dictionary(grouping: granted, by: \.productID)
        let units = record.units(where: isOfThisApp)
        // Units whose purchases are no longer listed.
        if server == nil { for product in units.keys where products[product] == nil { products[product] = [] } }
        for (product, purchases) in products where found[product] == nil {
            found[product] = localEntitlement(product, purchases, units[product] ?? [], now)
        }
        return found.values.sorted { $0.productID < $1.productID }
    }

    /// The remaining units of a consumable. The server's number wins.
    public func balance(of productID: String) throws -> Int64 { try entitlements().balance(of: productID) }

    /// Uses up units of a consumable, without a server. With one, the app's backend consumes them.
    ///
    /// - Parameters:
    ///   - quantity: how many units, at least 1.
    ///   - productID: the consumable.
    ///   - consumptionID: a name for this use. A repeated call with one of the last 200 names changes nothing.
    public func consume(_ quantity: Int64 = 1, of productID: String, consumptionID: String) throws {
        try load()
        guard server == nil else { throw PurchaseError(.consumedByServer) }
        guard quantity >= 1, !consumptionID.isEmpty else {
            throw PurchaseError(.fieldMissing, expected: "a quantity from 1, and a consumption id")
        }
        let known = record.units(where: isOfThisApp)[productID] ?? []
        guard !known.contains(where: { $0.uses.contains { $0.consumptionID == consumptionID } }) else { return }
        let balance = try balance(of: productID)
        guard balance >= quantity else {
            throw PurchaseError(.balanceInsufficient, expected: "\(quantity)", found: "\(balance)")
        }
        // What a tester uses up in TestFlight is not taken from what somebody paid for.
        let name = PurchaseRecord.unitsName(productID, in: record.environment)
        try change {
            $0.units[name, default: UnitTotals()].use(
                ConsumedUnits(consumptionID: consumptionID, productID: productID, quantity: quantity))
        }
        announce()
    }

    /// Ends purchases granted on this device whose products the App Store withdraws without a transaction, and reports
    /// each as `revoked`, except consumables. A restore or the server's next answer corrects it.
    package func withdraw(_ productIDs: [String]) {
        let now = trustedNow()
        var ended: [GrantedPurchase] = []
        let isStored = changes { record in
            let keys = record.granted.filter { productIDs.contains($0.productID) && $0.kind != .consumable }.map(\.key)
            for key in keys { if let purchase = record.end(key, at: now) { ended.append(purchase) } }
        }
        guard isStored else { return }
        for purchase in ended { emit(.revoked(PurchaseReport(purchase), PurchaseError(.purchaseRevoked))) }
    }

    /// The purchases that were granted on this device to the customer who is signed in; without a server, all of them.
    /// Of a subscription the newest periods, of consumables the newest 200.
    public func purchases() throws -> [GrantedPurchase] {
        try load()
        return grantedPurchases()
    }

    // MARK: Ends

    /// Whether something that has ended is shown, because nobody could be asked since whether it was renewed.
    var isEndUnseen: Bool {
        let now = currentTime()
        return entitlements(at: now).contains { entitlement in
            entitlement.isActive && (entitlement.until.map { $0 <= now && isAwaited(after: $0, now) } ?? false)
        }
    }

    /// Whether the news of a renewal are waited for after an end.
    private func isAwaited(after end: Date, _ now: Date) -> Bool {
        let name = server == nil ? "" : shownCustomer?.id ?? ""
        return now < end.addingTimeInterval(offline.leeway) && record.looks?[name].map { $0 < end } ?? true
    }

    /// The seconds until the first of these ends, or is no longer waited for; `nil` if none does.
    func secondsToNextEnd(_ entitlements: [PurchaseEntitlement]) -> Double? {
        // By the time that decides, which is not always the device's clock.
        let now = currentTime()
        let pauses = entitlements.filter(\.isActive).compactMap(\.until).flatMap { end in
            [end, end.addingTimeInterval(offline.leeway)].map { $0.timeIntervalSince(now) }
        }
        return pauses.filter { $0 > 0 }.min()
    }

    /// Until when each product with an end is shown if nobody can be asked; for a pass, the app itself says it.
    nonisolated func shownEnds(of entitlements: [PurchaseEntitlement]) -> [String: Date] {
        let ends = entitlements.compactMap { one in
            one.until.map { (one.productID, lengths[one.productID] == nil ? $0 + offline.leeway : $0) }
        }
        return Dictionary(ends) { $1 }
    }

    /// Looks whether what has just ended was renewed, before it is taken away.
    func lookAtEnds() async {
        guard server == nil || customer != nil, failedPasses == 0, isEndUnseen else { return }
        await refreshEntitlements()
    }

    // MARK: Changes

    /// Reports what changed since the last look: by news, by a use, or because the paid time has ended.
    func announce() {
        let now = currentTime()
        let shown = entitlements(at: now)
        guard let before = shownEntitlements, !before.sayTheSame(as: shown) else {
            shownEntitlements = shown
            return
        }
        shownEntitlements = shown
        for entitlement in before where entitlement.isActive {
            guard let until = entitlement.until, until <= now,
                !shown.contains(where: { $0.productID == entitlement.productID && $0.isActive })
            else { continue }
            emit(.ended(productID: entitlement.productID))
        }
        emit(.entitlementsChanged(shown))
    }

    // MARK: Time

    /// The time by which entitlements end. It follows the uptime while the app runs, so setting the clock back gains
    /// nothing; time in which the app does not run goes unnoticed.
    func currentTime() -> Date {
        let uptime = time.uptime
        var now = record.mark.time(time.now)
        if let seen = seenTime { now = max(now, seen.date.addingTimeInterval(max(0, uptime - seen.uptime))) }
        seenTime = (now, uptime)
        return now
    }

    /// The same time; the mark is stored once a minute, not for every call.
    func trustedNow() -> Date {
        let now = currentTime()
        if now.timeIntervalSince(record.mark.latest ?? .distantPast) >= 60 { _ = changes { $0.mark.see(now) } }
        return now
    }

    /// Takes a signed time. A newer one replaces what was seen: the clock was wrong then.
    func see(signed date: Date, isFresh: Bool = false) {
        var mark = record.mark
        guard mark.see(signed: date, isFresh: isFresh, device: time.now) else { return }
        seenTime = nil
        move(mark, endingBy: isFresh ? date : nil)
    }

    // MARK: Helpers

    /// The customer whose purchases are shown: until somebody signs in, the last one, so that a launch without a
    /// network shows what they have. Purchases are neither begun nor sent for them before they sign in.
    var shownCustomer: PurchaseCustomer? { customer ?? record.lastCustomer }

    func isOfCustomer(_ customerID: String?) -> Bool {
        server == nil || (shownCustomer.map { $0.id == customerID } ?? false)
    }

    /// Whether a purchase may be sent now: without a server always, otherwise if its customer is signed in.
    func isOfSignedInCustomer(_ customerID: String?) -> Bool {
        server == nil || (customer.map { $0.id == customerID } ?? false)
    }

    /// Whether a purchase of an environment counts here: one of TestFlight does not count in the App Store's build.
    private func isOfThisApp(_ environment: String?) -> Bool {
        guard let environment, let own = record.environment else { return true }
        return environment == own || environment == "Production"
    }

    private func grantedPurchases() -> [GrantedPurchase] { record.granted.filter { isOfCustomer($0.customerID) } }

    private func entitlement(_ stored: StoredEntitlement, _ now: Date) -> PurchaseEntitlement {
        let age = now.timeIntervalSince(stored.signedAt)
        // An answer from before the refund does not outlive it.
        let isEnded = record.granted.contains { purchase in
            purchase.endedAt.map { $0 >= stored.signedAt } ?? false
                && purchase.key.transactionID == stored.transactionID
        }
        let renewedEnd = record.renewedEnd(of: stored).map { end in
            min(end, stored.signedAt.addingTimeInterval(offline.subscriptions))
        }
        let isRenewed = renewedEnd.map { $0 > stored.until ?? .distantFuture } ?? false
        let until = isRenewed ? renewedEnd : stored.until
        let counts =
            until.map { (now < $0 || isAwaited(after: $0, now)) && age <= offline.subscriptions }
            ?? (age <= offline.others ?? .infinity)
        // Renewal info is about the period for which it was signed.
        return PurchaseEntitlement(
            productID: stored.productID, environment: stored.environment,
            isActive: stored.isActive && counts && !isEnded, until: until, balance: stored.balance,
            renewal: isRenewed ? nil : stored.renewal, source: isRenewed ? .device : .server, names: stored.names)
    }

    private func localEntitlement(
        _ product: String, _ purchases: [GrantedPurchase], _ totals: [UnitTotals], _ now: Date
    ) -> PurchaseEntitlement {
        let kept = purchases.filter { $0.endedAt == nil }
        let pass = endOfPasses(product, kept)
        let counting = kept.filter { purchase in
            guard let until = purchase.until else { return pass.map { now < $0 } ?? true }
            return now < until || isAwaited(after: until, now) || listedPastEnd.contains(purchase.key)
        }
        let lasting = pass == nil && counting.contains { $0.until == nil }
        var entitlement = PurchaseEntitlement(
            productID: product, environment: purchases.last?.key.environment, isActive: !counting.isEmpty,
            until: lasting ? nil : pass ?? (counting.isEmpty ? kept : counting).compactMap(\.until).max(),
            renewal: lasting ? nil : kept.max { ($0.until ?? .distantPast) < ($1.until ?? .distantPast) }?.renewal,
            source: .device)
        if !totals.isEmpty || purchases.contains(where: { $0.kind == .consumable }) {
            let bought = kept.reduce(totals.reduce(0) { $0 + $1.boughtEarlier }) { $0 + $1.quantity }
            let balance = max(0, bought - totals.reduce(0) { $0 + $1.used })
            entitlement.balance = balance
            entitlement.isActive = balance > 0
        }
        return entitlement
    }

    /// When the passes of a product end, each of which begins when it is bought or the one before it ends, if it is
    /// one.
    private func endOfPasses(_ product: String, _ purchases: [GrantedPurchase]) -> Date? {
        guard let length = lengths[product] else { return nil }
        let passes = purchases.filter { $0.until == nil && ($0.kind == nil || $0.kind == .nonRenewingSubscription) }
        let begins = passes.map { $0.purchaseDate ?? $0.grantedAt }.sorted()
        // Months are counted from the first of a chain, so that 31 January is followed by 28 February and 31 March.
        var chain: (begin: Date, count: Int, end: Date)?
        for begin in begins {
            if let known = chain, known.end > begin {
                chain = (known.begin, known.count + 1, length.end(after: known.count + 1, from: known.begin))
            } else {
                chain = (begin, 1, length.end(after: 1, from: begin))
            }
        }
        return chain?.end
    }
}
