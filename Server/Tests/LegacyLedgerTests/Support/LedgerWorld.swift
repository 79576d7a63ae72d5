import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

/// The engines that the behaviour suites run on. Each makes a database of its own for each test.
enum Engine: CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite

    var testDescription: String { "\(self)" }

    /// Runs the body with a fresh database, and removes the database afterwards.
    func withDatabase<Value>(_ body: (any LedgerDatabase) async throws -> Value) async throws -> Value {
        switch self {
        case .sqlite:
            try await TemporaryFolder.with { folder in
                let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
                let value = try await body(database)
                try await database.close()
                return value
            }
        }
    }
}

enum TemporaryFolder {
    static func with<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-ledger-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            // A folder that stays behind in the temporary folder harms nothing.
            try? FileManager.default.removeItem(at: folder)
        }
        return try await body(folder)
    }
}

/// A clock that a test moves.
final class TestClock: Sendable {
    private let time: Mutex<Int64>

    /// It begins an hour after the world was minted.
    init() {
        time = Mutex(Int64(MintedWorld.moment.timeIntervalSince1970 * 1000) + 3_600_000)
    }

    var now: Timestamp { Timestamp(millisecondsSince1970: time.withLock { $0 }) }

    func advance(seconds: Int64) {
        time.withLock { $0 += seconds * 1000 }
    }
}

/// A ledger with an app in it, around the minted world.
struct LedgerWorld: Sendable {
    let database: any LedgerDatabase
    let ledger: PurchaseLedger
    let clock: TestClock
    var app: RegisteredApp

    static let day: Int64 = 86_400

    init(_ database: any LedgerDatabase, clock: TestClock = TestClock()) async throws {
        self.database = database
        self.clock = clock
        try await LedgerMigrations.migrate(database, now: clock.now.millisecondsSince1970)
        ledger = PurchaseLedger(database: database, verifier: try Self.verifier(), clock: { clock.now })
        app = Self.app()
    }

    static func verifier() throws -> PurchaseVerifier {
        let store = try store.get()
        return PurchaseVerifier(
            anchors: try [
                store.receipts.root, store.signedPayload.root,
                store.transactionReceipts.storeIntermediate,
            ].map { try TrustAnchor(certificate: $0.certificate) })
    }

    /// The whole store around the minted world's authority, made once a run.
    static let store = Result {
        AppStoreAuthority(
            receipts: try MintedWorld.authority(),
            transactionReceipts: try TransactionReceiptAuthority(below: try MintedWorld.authority()),
            signedPayload: try SignedPayloadAuthority())
    }

    /// A signed transaction of one of the minted world's purchases.
    static func signed(
        _ index: Int = 0, _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        var template = SignedTransactionTemplate(
            purchase: MintedWorld.purchases()[index], bundleID: "com.example.app")
        change(&template)
        return Array(try SignedPayloadEncoder(authority: try store.get()).encode(template).utf8)
    }

    static func app() -> RegisteredApp {
        var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
        app.products = [
            "com.example.app.coins": RegisteredProduct(kind: .consumable),
            "com.example.app.pro": RegisteredProduct(kind: .nonConsumable),
            "com.example.app.monthly": RegisteredProduct(kind: .autoRenewable),
            "com.example.app.pass": RegisteredProduct(kind: .nonRenewing, duration: 30 * day * 1000),
        ]
        return app
    }

    static func evidence(_ purchases: [PurchaseTemplate]) throws -> [UInt8] {
        var template = MintedWorld.receipt()
        template.purchases = purchases
        return try evidence(template)
    }

    static func evidence(_ template: AppReceiptTemplate = MintedWorld.receipt()) throws -> [UInt8] {
        Array(Data(try MintedWorld.mint(template)).base64EncodedString().utf8)
    }

    /// A claim of the coins in the minted receipt, unless it says otherwise.
    func submission(
        _ transactionID: String? = "2000000000000001", product: String? = "com.example.app.coins",
        customer: String? = "alice", order: String? = nil, quantity: Int64? = nil, evidence: [UInt8]?
    ) -> PurchaseSubmission {
        var submission = PurchaseSubmission(app: app, receivedAt: clock.now)
        submission.keyID = "0123456789abcdef"
        submission.sourceAddress = "192.0.2.1"
        submission.productID = product
        submission.transactionID = transactionID
        submission.customerID = customer
        submission.orderID = order
        submission.quantity = quantity
        submission.evidence = evidence
        return submission
    }

    /// A receipt with one period of a subscription that began with `s0`.
    static func period(
        _ transaction: String, until days: Double, isCancelled: Bool = false,
        product: String = "com.example.app.monthly", lineItem: UInt64? = nil
    ) throws -> [UInt8] {
        var template = PurchaseTemplate.subscription(
            productID: product, transactionID: transaction, originalTransactionID: "s0",
            purchaseDate: MintedWorld.moment, originalPurchaseDate: MintedWorld.moment,
            expiresDate: MintedWorld.moment.addingTimeInterval(days * 86_400), webOrderLineItemID: lineItem)
        if isCancelled { template.cancellationDate = MintedWorld.moment }
        return try evidence([template])
    }

    /// Submits a claim of a subscription, unless it says otherwise.
    func claim(
        _ transaction: String, customer: String = "alice", order: String? = nil, _ evidence: [UInt8],
        product: String = "com.example.app.monthly"
    ) async throws -> PurchaseOutcome {
        try await ledger.submit(
            submission(transaction, product: product, customer: customer, order: order, evidence: evidence))
    }

    func order(
        _ customer: String = "alice", product: String = "com.example.app.coins", quantity: Int64 = 3
    ) async throws -> Order {
        let app = app
        return try await ledger.write {
            try $0.createOrder(OrderDraft(customerID: customer, productID: product, quantity: quantity), app: app)
        }
    }

    func existingOrder(_ id: String) async throws -> Order? {
        let app = app.id
        return try await ledger.read { try $0.order(id, app: app) }
    }

    func entitlements(of customer: String) async throws -> [Entitlement] {
        let app = app.id
        return try await ledger.read { try $0.entitlements(of: customer, app: app) }
    }

    func entitlement(of customer: String, to product: String) async throws -> Entitlement? {
        try await entitlements(of: customer).first { $0.key.productID == product }
    }

    func events(of customer: String) async throws -> [LedgerEvent.Kind] {
        let app = app.id
        return try await ledger.read { try $0.events(of: customer, app: app).map(\.kind) }
    }

    func submissions() async throws -> [SubmissionRecord] {
        let app = app.id
        return try await ledger.read { try $0.submissions(SubmissionFilter(), app: app, limit: 100_000).submissions }
    }
}

/// Random numbers that are the same for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
