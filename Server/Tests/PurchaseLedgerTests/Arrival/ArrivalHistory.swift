import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport

/// A random history as real evidence and real operations, with separate customers and ids.
struct ArrivalHistory {
    let seed: UInt64
    private let prefix: String
    private let story: PurchaseStory
    private var random: RandomStatements
    private var acts: [Act] = []
    private var tokens: [UInt64: UUID] = [:]

    /// An act with a fixed order, independent of the order of the evidence.
    private enum Act {
        case assign(token: UInt64, customer: String)
        case claim(id: String, customer: String)
        case restore(id: String, customer: String)
        case consume(Int64, customer: String)
        case move(id: String, to: String)
        case merge(String, into: String)
        case grant(String, customer: String)
        case revoke(id: String, customer: String)
    }

    init(seed: UInt64, number: Int) throws {
        self.seed = seed
        prefix = "\(1000 + number)"
        var history = RandomHistory(seed: seed)
        try history.happen()
        story = history.story
        random = RandomStatements(seed: seed ^ 0xA55A)
        for token in 1...5 { tokens[UInt64(token)] = UUID() }
        for token in 1...4 where random.chance(70) {
            acts.append(.assign(token: UInt64(token), customer: name(token)))
        }
        let ids = story.statements.map(\.key.transactionID.string)
        for _ in 0..<random.pick([1, 3, 5]) {
            acts.append(.claim(id: random.pick(ids), customer: name(random.pick([1, 2, 3, 4]))))
        }
        for _ in 0..<random.pick([0, 1, 3]) {
            let (customer, other) = (name(random.pick([1, 2, 3, 4])), name(random.pick([1, 2, 3, 4])))
            switch random.pick([0, 0, 1, 2, 3, 4, 5, 5]) {
            case 5: acts.append(.restore(id: random.pick(ids), customer: customer))
            case 0: acts.append(.consume(random.pick([1, 2]), customer: customer))
            case 1: acts.append(.move(id: random.pick(ids), to: other))
            case 2: acts.append(.merge(customer, into: other))
            case 3: acts.append(.grant(random.pick([LedgerWorld.coins, LedgerWorld.pro]), customer: customer))
            default: acts.append(.revoke(id: random.pick(ids), customer: customer))
            }
        }
    }

    /// Half of the customers are guests.
    private func name(_ customer: Int) -> String {
        customer % 2 == 0 ? "h\(prefix)c\(customer)" : "guest-0000\(prefix)-0000-4000-8000-00000000000\(customer)"
    }

    // MARK: Acts

    /// Applies everything to a world.
    ///
    /// - Returns: the journal's entries of the acts, without random ids.
    mutating func happen(in world: LedgerWorld, isReordered: Bool) async throws -> [String] {
        var evidence = try pieces(isReordered: isReordered)
        var rest = acts[...]
        let before = try await journal(world).count
        while !evidence.isEmpty || !rest.isEmpty {
            if !rest.isEmpty, evidence.isEmpty || random.chance(40) {
                await perform(rest.removeFirst(), world)
            } else {
                try await world.observe(evidence.removeFirst())
            }
        }
        return Array(try await journal(world).dropFirst(before))
    }

    /// A refused act is not in the journal, so histories with it are not compared with those without.
    private func perform(_ act: Act, _ world: LedgerWorld) async {
        do {
            switch act {
            case .assign(let token, let customer):
                guard let token = tokens[token] else { return }
                try await world.assign(token, to: customer)
            case .claim(let id, let customer):
                guard let statement = story.statements.first(where: { $0.key.transactionID == ExactText(id) }) else {
                    return
                }
                var claim = world.submission(
                    prefix + id, product: product(statement), customer: customer, try mint([statement]))
                claim.claim.isGuest = true
                _ = try await world.ledger.submit(claim)
            case .restore(let id, let customer):
                guard let statement = story.statements.first(where: { $0.key.transactionID == ExactText(id) }) else {
                    return
                }
                var restore = RestoreSubmission(app: "example", customerID: customer, evidence: [try mint([statement])])
                (restore.isGuest, restore.isRequested) = (true, true)
                _ = try await world.ledger.restore(restore)
            case .consume(let units, let customer):
                _ = try await world.consume(units, "use", of: customer)
            case .move(let id, let customer):
                try await world.move(prefix + id, to: customer)
            case .merge(let customer, let target):
                try await world.merge(customer, into: target)
            case .grant(let product, let customer):
                try await world.grant(product, to: customer, quantity: 2)
            case .revoke(let id, let customer):
                try await world.revoke(prefix + id, of: customer)
            }
        } catch is LedgerRefusal {
            return
        } catch {
            fatalError("seed \(seed): \(error)")
        }
    }

    /// The details of the acts, and for claims whether they bind.
    private func journal(_ world: LedgerWorld) async throws -> [String] {
        let rows = try await world.database.read(.lists) {
            try $0.rows("SELECT kind, CAST(details AS TEXT) FROM journal WHERE kind <> 1 ORDER BY entry_key", [])
        }
        return rows.compactMap { row in
            guard case .integer(let kind)? = row.values.first, case .text(let details)? = row.values.last else {
                return nil
            }
            let anonymous = details.replacing(/[0-9a-f]{8}-[0-9a-f-]{27}/, with: "id")
            guard kind == Int64(JournalKind.claim.rawValue) else { return "\(kind) \(anonymous)" }
            let customer = anonymous.firstMatch(of: /"customer":"[^"]*"/)?.output
            let isTaken = anonymous.contains("\"from\"")
            return "claim \(customer ?? "") \(anonymous.contains("\"binds\":true")) \(isTaken)"
        }
    }

    // MARK: Evidence

    /// The evidence of the story: in the order of its signing, or shuffled, with some twice, and receipts split or
    /// joined.
    private mutating func pieces(isReordered: Bool) throws -> [[UInt8]] {
        let receipts = story.statements.filter { $0.source == .appReceipt }
        var pieces: [[UInt8]] = []
        for statement in story.statements where statement.source != .appReceipt { pieces.append(try mint([statement])) }
        for renewal in story.renewals { pieces.append(try mint(renewal)) }
        guard isReordered else {
            if !receipts.isEmpty { pieces.append(try mint(receipts)) }
            return pieces
        }
        for receipt in receipts { pieces.append(try mint([receipt])) }
        let repeated = pieces.filter { _ in random.chance(30) }
        return (pieces + repeated).shuffled(using: &random.generator)
    }

    private func product(_ statement: TransactionStatement) -> String {
        "com.example.app." + (statement.productID?.string ?? "coins")
    }

    private func date(_ time: Timestamp?) -> Date? {
        time.map {
            MintedWorld.moment.addingTimeInterval(
                Double($0.millisecondsSince1970 - Timestamp.day(0).millisecondsSince1970) / 1000)
        }
    }

    /// A signed transaction, or an app receipt with several.
    private func mint(_ statements: [TransactionStatement]) throws -> [UInt8] {
        guard let first = statements.first, first.source != .appReceipt else {
            var template = AppReceiptTemplate.production(
                bundleID: "com.example.app", creationDate: MintedWorld.moment, purchases: [])
            template.purchases = statements.map(purchase)
            return Array(Data(try MintedWorld.mint(template)).base64EncodedString().utf8)
        }
        return try MintedWorld.mint(signed(first))
    }

    private func signed(_ statement: TransactionStatement) -> SignedTransactionTemplate {
        let id = prefix + statement.key.transactionID.string
        return LedgerWorld.template(id, product: product(statement), kind: Self.type(statement.kind)) {
            $0.originalTransactionID = prefix + (statement.originalTransactionID?.string ?? "")
            $0.webOrderLineItemID = statement.lineItemID.map { _ in id }
            $0.purchaseDate = date(statement.purchaseDate)
            $0.originalPurchaseDate = date(statement.originalPurchaseDate ?? statement.purchaseDate)
            $0.expiresDate = date(statement.end)
            $0.quantity = statement.quantity
            $0.appAccountToken = token(of: statement)
            $0.signedDate = date(statement.stamp)
            $0.revocationDate = date(statement.revocation?.date)
            $0.revocationPercentage = statement.revocation?.percentage
            $0.isUpgraded = statement.isUpgraded ? true : nil
        }
    }

    private func token(of statement: TransactionStatement) -> String? {
        statement.accountToken.flatMap { token in
            (1...5).first { AppAccountToken.sample($0) == token }.flatMap { tokens[$0]?.uuidString.lowercased() }
        }
    }

    private func purchase(_ statement: TransactionStatement) -> PurchaseTemplate {
        let id = prefix + statement.key.transactionID.string
        var purchase = PurchaseTemplate(
            productID: product(statement), transactionID: id,
            purchaseDate: date(statement.purchaseDate) ?? MintedWorld.moment)
        purchase.originalTransactionID = prefix + (statement.originalTransactionID?.string ?? "")
        purchase.originalPurchaseDate = date(statement.originalPurchaseDate ?? statement.purchaseDate)
        purchase.productType = Self.receiptType(statement.kind)
        purchase.quantity = statement.quantity.map { UInt64($0) }
        purchase.expiresDate = date(statement.end)
        purchase.cancellationDate = date(statement.cancellation)
        // Copies of a period have its line item, or none.
        let copied = statement.lineItemID?.string.replacing("line-", with: prefix)
        purchase.webOrderLineItemID = copied.flatMap { UInt64($0) } ?? 0
        return purchase
    }

    private func mint(_ renewal: RenewalStatement) throws -> [UInt8] {
        var template = RenewalInfoTemplate()
        template.originalTransactionID = prefix + renewal.key.originalTransactionID.string
        template.signedDate = date(renewal.stamp)
        template.environment = "Production"
        template.gracePeriodExpiresDate = date(renewal.info.graceEnd)
        template.isInBillingRetryPeriod = renewal.info.isInBillingRetry
        return try MintedWorld.mint(template)
    }

    private static func type(_ kind: ProductKind?) -> SignedTransactionTemplate.ProductType {
        switch kind {
        case .nonConsumable: .nonConsumable
        case .autoRenewable: .autoRenewableSubscription
        case .nonRenewing: .nonRenewingSubscription
        case .consumable, nil: .consumable
        }
    }

    private static func receiptType(_ kind: ProductKind?) -> PurchaseTemplate.ProductType {
        switch kind {
        case .nonConsumable: .nonConsumable
        case .autoRenewable: .autoRenewableSubscription
        case .nonRenewing: .nonRenewingSubscription
        case .consumable, nil: .consumable
        }
    }

    // MARK: Comparing

    /// The rows of this history in a form that does not depend on the order of arrival.
    func tables(_ world: LedgerWorld) async throws -> [String: [[LedgerValue]]] {
        let (pattern, ids) = ("h\(prefix)c%", "\(prefix)%")
        let queries = [
            (
                "transactions", ids,
                """
                SELECT transaction_id, original_id, product_id, facts, kind, duration, transactions.token, name, owner_reason
                FROM transactions JOIN originals USING (original_key) JOIN products USING (product_key)
                LEFT JOIN customers ON customer_key = owner_key WHERE transaction_id LIKE ?1 ORDER BY 1
                """
            ),
            ("renewals", ids, "SELECT original_id, facts FROM renewals WHERE original_id LIKE ?1 ORDER BY 1, 2"),
            (
                "entitlements", pattern,
                """
                SELECT name, product_id, original_id, ground < 0, kind, balance, shortfall, timeline, reason
                FROM entitlements JOIN customers USING (customer_key) JOIN products USING (product_key)
                LEFT JOIN originals ON original_key = ground
                WHERE name LIKE ?1 ORDER BY name, product_id, original_id, ground DESC
                """
            ),
            (
                "lots", pattern,
                """
                SELECT name, original_id, ground < 0, quantity, withdrawn, taken, available, purchased_at, reason
                FROM lots JOIN customers USING (customer_key) LEFT JOIN originals ON original_key = ground
                WHERE name LIKE ?1 ORDER BY name, original_id, ground DESC
                """
            ),
            (
                "takes", pattern,
                """
                SELECT name, original_id, ground < 0, units FROM takes JOIN customers USING (customer_key)
                LEFT JOIN originals ON original_key = ground WHERE name LIKE ?1 ORDER BY name, original_id, ground DESC
                """
            ),
        ]
        var tables: [String: [[LedgerValue]]] = [:]
        for (name, pattern, sql) in queries {
            tables[name] = try await world.database.read(.lists) {
                try $0.rows(sql, [.text(pattern)]).map(\.values)
            }
        }
        return tables
    }

    /// The answer for each customer, now and at past times.
    func answers(_ world: LedgerWorld) async throws -> [String: [Entitlement]] {
        var answers: [String: [Entitlement]] = [:]
        for customer in 1...4 {
            for day in [nil, 3.25, 17.25, 45.25, 90.25] as [Double?] {
                let moment = day.map {
                    Timestamp(
                        millisecondsSince1970: Int64(MintedWorld.moment.timeIntervalSince1970 * 1000)
                            + Int64($0 * 86_400_000))
                }
                answers["\(customer) \(day ?? -1)"] = try await world.ledger.answer(
                    EntitlementsOfCustomer(app: "example", customerID: name(customer), at: moment)
                ).entitlements.sorted { ($0.productID, $0.environment.name) < ($1.productID, $1.environment.name) }
            }
        }
        return answers
    }
}
