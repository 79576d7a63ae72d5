import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport

/// A ledger that gets notifications by the operation of the server's route, with a clock that the test sets.
struct NewsLedger: Sendable {
    let engine: String
    let database: any LedgerDatabase
    let ledger: PurchaseLedger
    private let clock = HistoryClock(NewsCatalog.start)

    init(_ engine: String, _ database: any LedgerDatabase) async throws {
        (self.engine, self.database) = (engine, database)
        let clock = clock
        try await LedgerMigrations.migrate(database, now: clock.now.millisecondsSince1970)
        ledger = try await PurchaseLedger.open(
            database: database, verifier: try Self.verifier(), apps: [Self.app], clock: { clock.now })
    }

    static func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) })
    }

    private static var app: RegisteredApp {
        var app = RegisteredApp(id: "example", bundleIDs: [NewsCatalog.app])
        app.products["coins"] = RegisteredProduct(kind: .consumable)
        app.products["full"] = RegisteredProduct(kind: .nonConsumable)
        for name in NewsCatalog.subscriptions { app.products[name] = RegisteredProduct(kind: .autoRenewable) }
        // Assumed access depends on the news of other histories in the same database.
        app.lapseTolerance = 0
        return app
    }

    func assignTokens(_ catalog: NewsCatalog) async throws {
        clock.show(NewsCatalog.start)
        for customer in catalog.named {
            guard let token = catalog.token(of: customer) else { continue }
            _ = try await ledger.perform(AssignToken(app: "example", customerID: customer, token: token))
        }
    }

    // MARK: Deliveries

    /// Verifies what the route takes from the body of a request.
    func examine(_ payload: String) throws -> ExaminedEvidenceSubmission {
        let body = Array(#"{"signedPayload":"\#(payload)"}"#.utf8)
        let examined = ledger.examine(EvidenceSubmission(notification: Array(payload.utf8), in: body))
        guard examined.error == nil, examined.observer == "example", examined.isNotification else {
            throw HistoryError(description: "a notification is refused: \(String(describing: examined.error))")
        }
        return examined
    }

    /// - Returns: whether it was received before.
    func take(_ notification: ExaminedEvidenceSubmission, at time: Date) async throws -> Bool {
        clock.show(time)
        let outcome = try await ledger.perform(ObserveEvidence(notification))
        guard outcome.code == "accepted", !outcome.isCounted else {
            throw HistoryError(description: "a notification is \(outcome.code)")
        }
        return outcome.isRepeated
    }

    func claim(_ transactionID: String, _ productID: String, by customer: String, _ payload: String, at time: Date)
        async throws
    {
        clock.show(time)
        var submission = PurchaseSubmission(app: "example")
        submission.claim.transactionID = transactionID
        submission.claim.productID = productID
        submission.claim.customerID = customer
        submission.evidence = Array(payload.utf8)
        let outcome = try await ledger.submit(submission)
        guard HistoryServer.claimCodes.contains(outcome.code) else {
            throw HistoryError(description: "a claim is \(outcome.code) \(outcome.found ?? "")")
        }
    }

    // MARK: Answers

    func entitlements(of customer: String, at time: Date, now: Date) async throws -> [String: Entitlement] {
        clock.show(now)
        let answer = try await ledger.answer(
            EntitlementsOfCustomer(app: "example", customerID: customer, at: time == now ? nil : Timestamp(time)))
        return Dictionary(answer.entitlements.map { ($0.productID, $0) }) { first, _ in first }
    }

    /// The stored facts of a transaction.
    func facts(of transactionID: String) async throws -> [UInt8]? {
        try await database.read(.keys) { connection in
            let rows = try connection.rows(
                "SELECT facts FROM transactions WHERE transaction_id = ?1", [.text(transactionID)])
            guard case .blob(let facts)? = rows.first?.values.first else { return nil }
            return facts
        }
    }

    /// The number of notifications, without repeated ones.
    func notifications() async throws -> Int64 {
        try await database.read(.lists) { connection in
            guard
                case .integer(let count)? = try connection.rows("SELECT count(*) FROM notifications", [])
                    .first?.values.first
            else { return 0 }
            return count
        }
    }

    /// Facts, owners, entitlements and lots in a form that depends neither on the engine nor on the order of arrival.
    func tables() async throws -> [String: [String]] {
        let queries = [
            "transactions": """
            SELECT transaction_id, original_id, product_id, facts, kind, transactions.token, name, owner_reason
            FROM transactions JOIN originals USING (original_key) JOIN products USING (product_key)
            LEFT JOIN customers ON customer_key = owner_key
            """,
            "renewals": "SELECT original_id, beside, concern, facts FROM renewals",
            "entitlements": """
            SELECT name, product_id, original_id, kind, balance, shortfall, timeline, reason
            FROM entitlements JOIN customers USING (customer_key) JOIN products USING (product_key)
            LEFT JOIN originals ON original_key = ground
            """,
            "lots": """
            SELECT name, original_id, quantity, withdrawn, taken, available, purchased_at, reason
            FROM lots JOIN customers USING (customer_key) LEFT JOIN originals ON original_key = ground
            """,
        ]
        return try await database.read(.lists) { connection in
            try queries.mapValues { sql in try connection.rows(sql, []).map { "\($0.values)" }.sorted() }
        }
    }
}
