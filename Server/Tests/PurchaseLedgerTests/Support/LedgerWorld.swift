import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

/// A folder that is deleted after a test.
enum TemporaryFolder {
    static func with<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-ledger-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            // A leftover folder in the temporary folder does no harm.
            try? FileManager.default.removeItem(at: folder)
        }
        return try await body(folder)
    }
}

/// A clock that a test moves.
final class TestClock: Sendable {
    private let time: Mutex<Int64>

    /// It begins an hour after the minted world's moment.
    init() {
        time = Mutex(Int64(MintedWorld.moment.timeIntervalSince1970 * 1000) + 3_600_000)
    }

    var now: Timestamp { Timestamp(millisecondsSince1970: time.withLock { $0 }) }

    func advance(seconds: Int64) {
        time.withLock { $0 += seconds * 1000 }
    }

    func advance(days: Int64) { advance(seconds: days * 86_400) }
}

/// A ledger over a real database, with one app.
struct LedgerWorld: Sendable {
    let database: any LedgerDatabase
    let ledger: PurchaseLedger
    let clock: TestClock

    static let coins = "com.example.app.coins"
    static let pro = "com.example.app.pro"
    static let monthly = "com.example.app.monthly"
    static let yearly = "com.example.app.yearly"
    static let pass = "com.example.app.pass"
    static let customer = "alice"

    /// A world with its own database, once for each engine.
    static func with(
        _ change: (inout RegisteredApp) -> Void = { _ in }, _ body: (LedgerWorld) async throws -> Void
    ) async throws {
        var app = app()
        change(&app)
        let apps = [app]
        try await TestEngine.withDatabases(mayBeMigrated: true) { database in
            let world = try await LedgerWorld(database, apps: apps)
            try await body(world)
            try await world.requireConsistency()
        }
    }

    init(
        _ database: any LedgerDatabase, clock: TestClock = TestClock(), apps: [RegisteredApp] = [LedgerWorld.app()],
        entryKey: EntryKey? = nil
    ) async throws {
        self.database = database
        self.clock = clock
        try await LedgerMigrations.migrate(database, now: clock.now.millisecondsSince1970)
        ledger = try await PurchaseLedger.open(
            database: database, verifier: try Self.verifier(), apps: apps, clock: { clock.now }, entryKey: entryKey)
    }

    private init(_ database: any LedgerDatabase, _ ledger: PurchaseLedger, _ clock: TestClock) {
        (self.database, self.ledger, self.clock) = (database, ledger, clock)
    }

    /// The same database under other settings.
    func restarted(_ apps: [RegisteredApp], entryKey: EntryKey? = nil) async throws -> LedgerWorld {
        try await LedgerWorld(database, clock: clock, apps: apps, entryKey: entryKey)
    }

    static func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) })
    }

    static func app() -> RegisteredApp {
        var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
        app.products = [
            coins: RegisteredProduct(kind: .consumable),
            pro: RegisteredProduct(kind: .nonConsumable, entitlements: ["pro"]),
            monthly: RegisteredProduct(kind: .autoRenewable, entitlements: ["pro"]),
            yearly: RegisteredProduct(kind: .autoRenewable, entitlements: ["pro"]),
            pass: RegisteredProduct(kind: .nonRenewing, duration: PassDuration("30d")),
        ]
        return app
    }

    // MARK: Evidence

    private static let kinds: [String: SignedTransactionTemplate.ProductType] = [
        pro: .nonConsumable, monthly: .autoRenewableSubscription, yearly: .autoRenewableSubscription,
        pass: .nonRenewingSubscription,
    ]

    /// The product that a signed transaction states; the coins for other evidence.
    private static func product(in evidence: [UInt8]) -> String {
        struct Payload: Decodable { let productId: String? }
        let parts = String(decoding: evidence, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return coins }
        let base64 = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        let padded = String(base64) + String(repeating: "=", count: (4 - base64.count % 4) % 4)
        // Other evidence states no product here.
        let payload = Data(base64Encoded: padded).flatMap { try? JSONDecoder().decode(Payload.self, from: $0) }
        return payload?.productId ?? coins
    }

    /// A signed transaction of Production, bought an hour after the minted world's moment.
    static func signed(
        _ transaction: String, product: String = coins, kind: SignedTransactionTemplate.ProductType? = nil,
        _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        try MintedWorld.mint(template(transaction, product: product, kind: kind, change))
    }

    static func template(
        _ transaction: String, product: String = coins, kind: SignedTransactionTemplate.ProductType? = nil,
        _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) -> SignedTransactionTemplate {
        var template = SignedTransactionTemplate()
        template.transactionID = transaction
        template.originalTransactionID = transaction
        template.bundleID = "com.example.app"
        template.productID = product
        template.type = kind ?? kinds[product] ?? .consumable
        template.purchaseDate = MintedWorld.moment.addingTimeInterval(3600)
        template.originalPurchaseDate = template.purchaseDate
        template.signedDate = template.purchaseDate
        template.environment = "Production"
        template.price = 990
        template.currency = "EUR"
        change(&template)
        return template
    }

    /// A period of a subscription.
    static func period(
        _ transaction: String, original: String = "900", product: String = monthly, from start: Double,
        days: Double = 30,
        _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        try signed(transaction, product: product, kind: .autoRenewableSubscription) {
            $0.originalTransactionID = original
            $0.purchaseDate = MintedWorld.moment.addingTimeInterval(3600 + start * 86_400)
            $0.originalPurchaseDate = MintedWorld.moment.addingTimeInterval(3600)
            $0.expiresDate = $0.purchaseDate?.addingTimeInterval(days * 86_400)
            $0.signedDate = $0.purchaseDate
            change(&$0)
        }
    }

    /// A receipt with purchases, in base64.
    static func receipt(_ purchases: [PurchaseTemplate]) throws -> [UInt8] {
        var template = MintedWorld.receipt()
        template.purchases = purchases
        return Array(Data(try MintedWorld.mint(template)).base64EncodedString().utf8)
    }

    // MARK: Requests

    func submission(
        _ transaction: String?, product: String? = coins, customer: String? = customer, order: UUID? = nil,
        quantity: Int64? = nil, _ evidence: [UInt8]?
    ) -> PurchaseSubmission {
        var submission = PurchaseSubmission(app: "example")
        submission.keyID = "0123456789abcdef"
        submission.sourceAddress = "192.0.2.1"
        submission.claim.transactionID = transaction
        submission.claim.productID = product
        submission.claim.customerID = customer
        submission.claim.orderID = order?.uuidString.lowercased()
        submission.claim.quantity = quantity
        submission.evidence = evidence
        return submission
    }

    /// Claims a transaction; the product is that of the evidence unless it is named.
    func claim(
        _ transaction: String, product: String? = nil, customer: String? = customer, order: UUID? = nil,
        _ evidence: [UInt8]
    ) async throws -> PurchaseOutcome {
        let product = product ?? Self.product(in: evidence)
        return try await ledger.submit(
            submission(transaction, product: product, customer: customer, order: order, evidence))
    }

    @discardableResult
    func observe(_ evidence: [UInt8]) async throws -> ObservationOutcome {
        try await ledger.observe(EvidenceSubmission(app: "example", source: "notification", evidence: evidence))
    }

    func order(
        _ customer: String = customer, product: String = coins, quantity: Int64 = 1,
        environment: AppStoreEnvironment? = nil
    ) async throws -> Order {
        try await ledger.perform(
            CreateOrder(
                app: "example",
                OrderDraft(customerID: customer, productID: product, quantity: quantity, environment: environment))
        ).order
    }

    func order(_ id: UUID) async throws -> Order {
        try await ledger.answer(OrderByID(app: "example", orderID: id))
    }

    func entitlement(
        _ product: String = coins, of customer: String = customer, environment: AppStoreEnvironment? = nil,
        at moment: Timestamp? = nil
    ) async throws -> Entitlement? {
        try await ledger.answer(
            EntitlementsOfCustomer(app: "example", customerID: customer, environment: environment, at: moment)
        ).entitlements.first { $0.productID == product }
    }

    func consume(
        _ quantity: Int64, _ id: String, of customer: String = customer, environment: AppStoreEnvironment? = nil
    ) async throws -> ConsumptionMessage {
        try await ledger.perform(
            ConsumeUnits(
                app: "example", customerID: customer, productID: Self.coins, quantity: quantity, consumptionID: id,
                environment: environment))
    }

    @discardableResult
    func move(_ transaction: String, to customer: String) async throws -> String? {
        try await ledger.perform(
            MovePurchase(app: "example", transactionID: transaction, to: customer, reason: "of a test"))
    }

    func merge(_ customer: String, into other: String) async throws {
        try await ledger.perform(MergeCustomers(app: "example", customerID: customer, into: other))
    }

    @discardableResult
    func erase(_ customer: String) async throws -> EraseCustomer.Outcome {
        try await ledger.perform(EraseCustomer(app: "example", customerID: customer, reason: "of a test"))
    }

    @discardableResult
    func fulfil(_ order: UUID) async throws -> FulfilOrder.Outcome {
        try await ledger.perform(FulfilOrder(app: "example", orderID: order))
    }

    @discardableResult
    func assign(_ token: UUID, to customer: String) async throws -> Bool {
        try await ledger.perform(AssignToken(app: "example", customerID: customer, token: token))
    }

    @discardableResult
    func tester(_ customer: String, _ isTester: Bool) async throws -> Bool {
        try await ledger.perform(ChangeTester(app: "example", customerID: customer, isTester: isTester))
    }

    @discardableResult
    func revoke(_ transaction: String, of customer: String) async throws -> UUID {
        try await ledger.perform(
            RevokeByHand(
                app: "example", customerID: customer, .purchase(transactionID: transaction, environment: nil),
                reason: "of a test"))
    }

    @discardableResult
    func revoke(grant: UUID, of customer: String) async throws -> UUID {
        try await ledger.perform(RevokeByHand(app: "example", customerID: customer, .grant(grant), reason: "of a test"))
    }

    @discardableResult
    func grant(
        _ product: String, to customer: String, quantity: Int64 = 1, environment: AppStoreEnvironment = .production,
        until end: Timestamp? = nil
    ) async throws -> UUID {
        try await ledger.perform(
            GrantByHand(
                app: "example", customerID: customer, productID: product, environment: environment, quantity: quantity,
                until: end, reason: "of a test"))
    }

    /// Ends a ground by the id in its answer.
    func end(_ ground: String, of customer: String) async throws {
        try await ledger.perform(EndGround(app: "example", customerID: customer, id: try UUID(answered: ground)))
    }

    @discardableResult
    func restore(of customer: String, _ evidence: [[UInt8]]) async throws -> RestoreOutcome {
        try await ledger.restore(RestoreSubmission(app: "example", customerID: customer, evidence: evidence))
    }

    func entitlements(of customer: String) async throws -> EntitlementsOfCustomer.Answer {
        try await ledger.answer(EntitlementsOfCustomer(app: "example", customerID: customer))
    }

    func events() async throws -> [String] {
        try await ledger.answer(EventList(app: "example", limit: 100_000)).map(\.type)
    }

    func submissions(_ filter: SubmissionFilter = SubmissionFilter()) async throws -> [SubmissionMessage] {
        try await ledger.answer(SubmissionList(app: "example", filter: filter, limit: 100_000)).entries
    }

    /// Calls the body with a ledger on a new file, to which this one is rebuilt.
    func rebuilt(_ body: (LedgerWorld) async throws -> Void = { _ in }) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "rebuilt.sqlite").path
            let outcome = try await ledger.rebuild(to: path, in: folder)
            #expect(outcome.isRebuilt, "\(outcome)")
            let (file, clock) = (try SQLiteDatabase(path: path), clock)
            let ledger = try await PurchaseLedger.openRecorded(database: file, verifier: try Self.verifier()) {
                clock.now
            }
            let world = LedgerWorld(file, ledger, clock)
            try await world.requireConsistency()
            try await body(world)
            try await file.close()
        }
    }

    /// The check at the end of every test: the tables equal a rebuild, and every hash is right.
    func requireConsistency() async throws {
        let report = try await ledger.audit()
        #expect(report.findings == [], "the audit found differences")
    }
}

extension SignedTransactionTemplate {
    /// Revoked at a time, and signed at it.
    mutating func refund(at date: Date?) { sign(date, isRevoked: true) }

    mutating func sign(_ date: Date?, isRevoked: Bool) {
        signedDate = date
        if isRevoked { revocationDate = date }
    }
}

extension UUID {
    /// An id in an answer of the ledger.
    init(answered text: String) throws { self = try #require(UUID(uuidString: text)) }
}
