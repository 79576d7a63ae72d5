import PurchaseVerification

extension LedgerTransaction {
    /// Everything that is recorded and bears on a claim.
    func facts(
        _ claim: PurchaseClaim, _ purchase: ProvenPurchase?, app: RegisteredApp
    ) throws(LedgerStorageError) -> KnownFacts {
        var facts = KnownFacts(app: app, now: now)
        if let orderID = claim.orderID { facts.order = try reader.order(orderID, app: app.id) }
        guard let purchase else { return facts }
        if let token = purchase.appAccountToken { facts.tokenOrder = try reader.order(token: token, app: app.id) }
        facts.recorded = try recorded(purchase, app: app.id)
        facts.withdrawnAt = try withdrawal(of: purchase, app: app)
        if let original = try original(of: purchase, app: app.id) {
            facts.originalOwner = original.owner
            facts.recordedEnvironment = original.environment
            facts.copies = try copies(of: purchase, in: original.environment, app: app)
        }
        if app.product(of: purchase)?.kind == .nonRenewing, let owner = facts.order?.customerID ?? claim.customerID {
            let key = EntitlementKey(
                app: app.id, customerID: owner, productID: purchase.productID,
                environment: facts.recordedEnvironment ?? purchase.environment)
            let held = try reader.entitlement(key)
            facts.heldUntil = held?.recordedState == .active ? held?.until : nil
        }
        return facts
    }

    /// What is recorded as granted and is the same thing bought: under the same transaction, or as a copy of it.
    func granted(
        _ purchase: ProvenPurchase, app: RegisteredApp
    ) throws(LedgerStorageError) -> [RecordedPurchase] {
        var granted: [RecordedPurchase] = []
        if let recorded = try recorded(purchase, app: app.id) { granted.append(recorded) }
        if let original = try original(of: purchase, app: app.id) {
            granted += try copies(of: purchase, in: original.environment, app: app)
        }
        return granted
    }

    /// The purchase as it was recorded, under whatever environment of the App Store.
    private func recorded(_ purchase: ProvenPurchase, app: String) throws(LedgerStorageError) -> RecordedPurchase? {
        for environment in purchase.environment.alternatives {
            if let recorded = try reader.purchase(purchase.transactionID, in: environment, app: app) { return recorded }
        }
        return nil
    }

    private func original(
        of purchase: ProvenPurchase, app: String
    ) throws(LedgerStorageError) -> (owner: String, environment: AppStoreEnvironment)? {
        for environment in purchase.environment.alternatives {
            let rows = try connection.rows(
                """
                SELECT customer_id FROM original_purchases
                WHERE app = ?1 AND environment = ?2 AND original_transaction_id = ?3
                """, [.text(app), .text(environment.name), .text(purchase.originalTransactionID)])
            if let row = rows.first {
                var reader = RowReader(row)
                return (try reader.text(), environment)
            }
        }
        return nil
    }

    private func copies(
        of purchase: ProvenPurchase, in environment: AppStoreEnvironment, app: RegisteredApp
    ) throws(LedgerStorageError) -> [RecordedPurchase] {
        let identity = purchase.identity(app)
        guard !identity.isPeriodWithoutEnd else { return [] }
        var copies: [RecordedPurchase] = []
        for row in try connection.rows(
            """
            SELECT \(RecordedPurchase.columns) FROM purchases
            WHERE app = ?1 AND environment = ?2 AND original_transaction_id = ?3 AND transaction_id <> ?4
            AND product_id = ?5 AND (?6 IS NULL OR expires_at = ?6)
            ORDER BY transaction_id
            """,
            [
                .text(app.id), .text(environment.name), .text(purchase.originalTransactionID),
                .text(purchase.transactionID), .text(purchase.productID), .time(identity.period),
            ])
        {
            copies.append(try RecordedPurchase(row))
        }
        return copies
    }
}

/// What tells two purchases of the same original transaction and product apart.
struct PurchaseIdentity {
    /// The end of the period, for auto-renewable subscriptions; `nil` where the original transaction says it all.
    let period: Timestamp?
    /// A period that nobody can name is like no other.
    let isPeriodWithoutEnd: Bool
}

extension ProvenPurchase {
    /// As the operator registered the product, or, if he did not, as the evidence has it.
    func identity(_ app: RegisteredApp) -> PurchaseIdentity {
        let isPeriod = (app.product(of: self)?.kind ?? productKind ?? .nonConsumable) == .autoRenewable
        return PurchaseIdentity(
            period: isPeriod ? expiresDate : nil, isPeriodWithoutEnd: isPeriod && expiresDate == nil)
    }
}

extension AppStoreEnvironment {
    /// The environments under which a purchase may be recorded, its own first. The App Store numbers production and sandbox
    /// apart, so the same number in both is the same purchase, called differently.
    var alternatives: [AppStoreEnvironment] {
        switch self {
        case .production: [.production, .sandbox]
        case .sandbox: [.sandbox, .production]
        case .xcode, .other: [self]
        }
    }
}

extension Timestamp {
    /// A length of time later, so many times; the end of the year 9999 at the latest.
    func adding(_ count: Int64, times milliseconds: Int64) -> Timestamp {
        let (length, isTooLong) = milliseconds.multipliedReportingOverflow(by: count)
        let (sum, isTooLate) = millisecondsSince1970.addingReportingOverflow(length)
        return Timestamp(millisecondsSince1970: isTooLong || isTooLate ? Self.latest : min(sum, Self.latest))
    }

    private static let latest: Int64 = 253_402_300_799_999
}
