import PurchaseVerification

extension LedgerTransaction {
    /// Everything that is recorded and bears on a claim.
    func facts(
        _ claim: PurchaseClaim, _ purchase: ProvenPurchase?, among purchases: [ProvenPurchase], app: RegisteredApp
    ) throws(LedgerStorageError) -> KnownFacts {
        var facts = KnownFacts(app: app, now: now)
        if let orderID = claim.orderID { facts.order = try reader.order(orderID, app: app.id) }
        guard let purchase else { return facts }
        if let token = purchase.appAccountToken { facts.tokenOrder = try reader.order(token: token, app: app.id) }
        facts.recorded = try recorded(purchase, app: app.id)
        let identity = purchase.identity(app, recorded: facts.recorded)
        facts.withdrawnAt = try withdrawal(of: purchase, identity, app: app.id)
        if let original = try original(of: purchase, app: app.id) {
            facts.originalOwner = original.owner
            facts.recordedEnvironment = original.environment
            facts.copies = try copies(of: purchase, identity, in: original.environment, app: app.id)
        }
        if app.product(of: purchase)?.kind == .nonRenewing, let owner = facts.order?.customerID ?? claim.customerID {
            let key = EntitlementKey(
                app: app.id, customerID: owner, productID: purchase.productID,
                environment: facts.recordedEnvironment ?? purchase.environment)
            facts.held = try reader.held(key)
            facts.unusable = try unusable(purchases, besides: purchase, by: owner, app: app)
        }
        return facts
    }

    /// The original transactions of other passes of the product that the customer cannot use.
    private func unusable(
        _ purchases: [ProvenPurchase], besides purchase: ProvenPurchase, by customerID: String, app: RegisteredApp
    ) throws(LedgerStorageError) -> Set<String> {
        var unusable: Set<String> = []
        for other in purchases where other.productID.isSame(as: purchase.productID) {
            let isWithdrawn = try withdrawal(of: other, .original, app: app.id) != nil
            let owner = try original(of: other, app: app.id)?.owner
            if isWithdrawn || owner.map({ !$0.isSame(as: customerID) }) ?? false {
                unusable.insert(other.originalTransactionID)
            }
        }
        return unusable
    }

    /// What is recorded as granted and is the same thing bought: under the same transaction, or as a copy of it.
    func granted(
        _ purchase: ProvenPurchase, app: RegisteredApp
    ) throws(LedgerStorageError) -> [RecordedPurchase] {
        let recorded = try recorded(purchase, app: app.id)
        guard let original = try original(of: purchase, app: app.id) else { return [recorded].compactMap(\.self) }
        let identity = purchase.identity(app, recorded: recorded)
        return [recorded].compactMap(\.self)
            + (try copies(of: purchase, identity, in: original.environment, app: app.id))
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
        of purchase: ProvenPurchase, _ identity: PurchaseIdentity, in environment: AppStoreEnvironment, app: String
    ) throws(LedgerStorageError) -> [RecordedPurchase] {
        var sql = """
            SELECT \(RecordedPurchase.columns) FROM purchases
            WHERE app = ?1 AND environment = ?2 AND original_transaction_id = ?3 AND transaction_id <> ?4
            AND product_id = ?5
            """
        var parameters: [LedgerValue] = [
            .text(app), .text(environment.name), .text(purchase.originalTransactionID),
            .text(purchase.transactionID), .text(purchase.productID),
        ]
        switch identity {
        case .original: break
        case .period(let lineItemID, let ends):
            var conditions: [String] = []
            if !ends.isEmpty {
                let places = (1...ends.count).map { "?\(parameters.count + $0)" }.joined(separator: ", ")
                conditions = ["expires_at / 1000 IN (\(places))", "first_expires_at / 1000 IN (\(places))"]
                parameters += ends.map { .integer($0) }
            }
            if let lineItemID {
                parameters.append(.text(lineItemID))
                conditions.append("web_order_line_item_id = ?\(parameters.count)")
            }
            guard !conditions.isEmpty else { return [] }
            sql += " AND (\(conditions.joined(separator: " OR ")))"
        }
        // Sorted here: told to, SQLite takes the primary key for the order and reads all purchases of the app.
        return try connection.rows(sql, parameters).map { row throws(LedgerStorageError) in try RecordedPurchase(row) }
            .sorted { $0.transactionID < $1.transactionID }
    }
}

/// What a purchase has in common with its copies, besides the original transaction and the product.
enum PurchaseIdentity {
    /// Nothing more.
    case original
    /// The period of an auto-renewable subscription: the App Store's number of it, and its end in seconds since 1970, as whole as
    /// receipts tell it. The App Store may move the end, so there can be several. A period without either is like no other.
    case period(lineItemID: String?, ends: [Int64])
}

extension ProvenPurchase {
    /// As the operator registered the product, or, if he did not, as the evidence has it.
    ///
    /// - Parameter recorded: the same transaction as it was recorded.
    func identity(_ app: RegisteredApp, recorded: RecordedPurchase? = nil) -> PurchaseIdentity {
        let kind = app.product(of: self)?.kind ?? productKind
        guard kind == .autoRenewable else { return .original }
        let ends = [expiresDate, recorded?.expiresAt, recorded?.firstExpiresAt].compactMap(\.self)
        return .period(
            lineItemID: webOrderLineItemID ?? recorded?.webOrderLineItemID,
            ends: Set(ends.map { $0.millisecondsSince1970 / 1000 }).sorted())
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
