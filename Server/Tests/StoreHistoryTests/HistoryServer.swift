import AppStoreSimulator
import ExpectedEntitlements
import Foundation
import PurchaseLedger
import PurchaseVerification
import Synchronization
import TestSupport

/// The ledger in an SQLite file, with a verifier that trusts the store's authority, and a clock that shows the store's
/// time.
final class HistoryServer: Sendable {
    let ledger: PurchaseLedger
    let database: SQLiteDatabase
    private let clock: HistoryClock

    init(path: String, rules: ExpectedEntitlements.Rules, start: Date) async throws {
        let clock = HistoryClock(start)
        database = try SQLiteDatabase(path: path)
        try await LedgerMigrations.migrate(database, now: clock.now.millisecondsSince1970)
        ledger = try await PurchaseLedger.open(
            database: database,
            verifier: PurchaseVerifier(
                anchors: try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }),
            apps: [Self.app(rules)], clock: { clock.now })
        self.clock = clock
    }

    private static func app(_ rules: ExpectedEntitlements.Rules) -> RegisteredApp {
        var app = RegisteredApp(id: "example", bundleIDs: [HistoryCatalog.app])
        app.transfer = rules.claimsTransfer ? .move : .deny
        // The store's customer of the sandbox is a customer like the others; the rule has tests of its own.
        app.sandboxAccess = .everyone
        app.refundShortfall = rules.isShortfallDebt ? .debt : .forgive
        for name in HistoryCatalog.consumables { app.products[name] = RegisteredProduct(kind: .consumable) }
        for name in HistoryCatalog.subscriptions { app.products[name] = RegisteredProduct(kind: .autoRenewable) }
        app.products["full"] = RegisteredProduct(kind: .nonConsumable)
        // The same lengths as in HistoryCatalog.passes.
        app.products["season"] = RegisteredProduct(kind: .nonRenewing, duration: PassDuration("1mo"))
        app.products["visit"] = RegisteredProduct(kind: .nonRenewing, duration: PassDuration("10d"))
        return app
    }

    /// Submits evidence, with or without a claim.
    func take(_ delivery: HistoryDelivery, at time: Date) async throws {
        clock.show(time)
        switch delivery {
        case .observation(let bytes):
            let outcome = try await ledger.observe(
                EvidenceSubmission(app: "example", source: "notification", evidence: bytes))
            try require(outcome.code == "accepted", "evidence is \(outcome.code)")
        case .claim(let transactionID, _, let productID, let customer, let bytes):
            var submission = PurchaseSubmission(app: "example")
            submission.claim.transactionID = transactionID
            submission.claim.productID = productID
            submission.claim.customerID = customer
            submission.evidence = bytes
            let outcome = try await ledger.submit(submission)
            try require(Self.claimCodes.contains(outcome.code), "a claim is \(outcome.code) \(outcome.found ?? "")")
        case .restore(let customer, _, let bytes):
            let outcome = try await ledger.restore(
                RestoreSubmission(app: "example", customerID: customer, evidence: [bytes]))
            try require(outcome.refused.isEmpty && !outcome.purchases.isEmpty, "a restore is refused")
        }
    }

    /// The possible answers to a claim with genuine evidence.
    static let claimCodes: Set<String> = [
        "accepted", "already_claimed", "app_account_token_mismatch", "subscription_expired", "purchase_withdrawn",
        "purchase_revoked", "purchase_cancelled", "purchase_upgraded",
    ]

    func assign(_ token: UUID, to customer: String, at time: Date) async throws {
        clock.show(time)
        _ = try await ledger.perform(AssignToken(app: "example", customerID: customer, token: token))
    }

    func move(
        _ transactionID: String, in environment: StoreEnvironment, from owner: String, to customer: String,
        at time: Date
    ) async throws {
        clock.show(time)
        let former = try await ledger.perform(
            MovePurchase(
                app: "example", transactionID: transactionID, environment: Self.environment(environment), to: customer,
                reason: "the customer asked for it"))
        try require(former == owner, "\(transactionID) is moved from \(former ?? "nobody"), not from \(owner)")
    }

    /// - Returns: whether the balance is sufficient.
    func use(
        _ quantity: Int64, of productID: String, in environment: StoreEnvironment, by customer: String, at time: Date
    ) async throws -> Bool {
        clock.show(time)
        do {
            _ = try await ledger.perform(
                ConsumeUnits(
                    app: "example", customerID: customer, productID: productID, quantity: quantity,
                    consumptionID: UUID().uuidString, environment: Self.environment(environment)))
            return true
        } catch let refusal as LedgerRefusal where refusal.code == .balanceInsufficient {
            return false
        }
    }

    /// The entitlements of a customer at a time, by product.
    func entitlements(
        of customer: String, in environment: StoreEnvironment, at time: Date, now: Date
    ) async throws -> [String: ExpectedEntitlements.Access] {
        clock.show(now)
        let answer = try await ledger.answer(
            EntitlementsOfCustomer(
                app: "example", customerID: customer, environment: Self.environment(environment),
                at: time == now ? nil : Timestamp(time)))
        var entitlements: [String: ExpectedEntitlements.Access] = [:]
        for entitlement in answer.entitlements {
            var access = ExpectedEntitlements.Access()
            access.isActive = entitlement.state == .active
            if access.isActive {
                access.until = entitlement.until.map {
                    Date(timeIntervalSince1970: Double($0.millisecondsSince1970) / 1000)
                }
            }
            (access.balance, access.shortfall) = (entitlement.balance, entitlement.shortfall)
            entitlements[entitlement.productID] = access
        }
        return entitlements
    }

    private static func environment(_ environment: StoreEnvironment) -> AppStoreEnvironment {
        environment == .production ? .production : .sandbox
    }

    private func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
        guard condition else { throw HistoryError(description: sentence()) }
    }
}

/// A clock that a test sets.
final class HistoryClock: Sendable {
    private let time: Mutex<Date>

    init(_ time: Date) { self.time = Mutex(time) }

    var now: Timestamp { Timestamp(time.withLock { $0 }) }

    func show(_ date: Date) { time.withLock { $0 = date } }
}

/// Evidence on its way to the server.
enum HistoryDelivery: Sendable {
    /// Evidence without a claim.
    case observation([UInt8])
    /// Evidence with the claim of a transaction.
    case claim(String, original: String, productID: String, by: String, [UInt8])
    /// Evidence with which a customer restores all purchases in it.
    case restore(by: String, originals: [String], [UInt8])

    var claimant: String? {
        switch self {
        case .observation: nil
        case .claim(_, _, _, let customer, _), .restore(let customer, _, _): customer
        }
    }

    var claimedOriginals: [String] {
        switch self {
        case .observation: []
        case .claim(_, let original, _, _, _): [original]
        case .restore(_, let originals, _): originals
        }
    }
}
