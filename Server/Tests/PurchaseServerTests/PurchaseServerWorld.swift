import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PurchaseAPI
import PurchaseConsole
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// A server with its own database, and a key for each scope.
struct PurchaseServerWorld: Sendable {
    let client: LiveClient
    /// The listener for operators; `nil` if the settings have none on a port.
    let admin: LiveClient?
    let database: SQLiteDatabase
    /// The file of the database.
    let path: String
    let ledger: PurchaseLedger
    let clock: TestClock
    /// The texts of keys, by scope.
    let keys: [APIKeyScope: String]
    /// The key of entries, for another server on the same database.
    let entryKey: EntryKey

    static let app: RegisteredApp = {
        var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
        app.products = [
            "com.example.app.coins": RegisteredProduct(kind: .consumable),
            "com.example.app.pro": RegisteredProduct(kind: .nonConsumable, entitlements: ["pro"]),
            "com.example.app.monthly": RegisteredProduct(kind: .autoRenewable, entitlements: ["pro"]),
        ]
        // The minted receipts are of Sandbox.
        app.sandboxAccess = .everyone
        return app
    }()

    /// A logger without output.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs the body with a server that listens on its own port.
    static func run(
        busySeconds: Double = 5, uptime: TestUptime = TestUptime(), eventStreams: Int? = nil, logger: Logger = silent,
        _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (PurchaseServerWorld) async throws -> Void
    ) async throws {
        let folder = try FileManager.default.temporaryFolder()
        defer { FileManager.default.remove(folder) }
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        configuration.apps = ["example": app]
        change(&configuration)
        let path = folder.appending(path: "assay.sqlite").path
        configuration.record.folder = folder.path
        let database = try SQLiteDatabase(path: path, busySeconds: busySeconds)
        let clock = TestClock()
        var dependencies = ServerDependencies()
        dependencies.clock = { clock.now }
        dependencies.openDatabase = { _ in database }
        dependencies.uptime = uptime.read
        if let eventStreams { dependencies.eventStreams = eventStreams }
        dependencies.console.store = "http://localhost:8090"
        // No test depends on the speed of the machine.
        dependencies.retentionOfferTime = .seconds(120)
        let server = try await startPurchaseServer(configuration, dependencies, logger: logger)
        let ledger = server.ledger
        let entryKey = try EntryKey(file: folder.appending(path: "assay-entries.key").path)
        var keys: [APIKeyScope: String] = [:]
        for scope in APIKeyScope.allCases {
            keys[scope] = try await ledger.perform(
                CreateAPIKey(app: "example", name: scope.rawValue, scopes: [scope])
            ).text
        }
        let texts = keys
        let (addresses, opened) = AsyncStream.makeStream(of: String.self)
        let isAdminOpen = configuration.admin != .off
        try await server.application(onAdminReady: { opened.yield($0) }).live { client async throws in
            var admin: LiveClient?
            if isAdminOpen {
                for await address in addresses {
                    admin = URL(string: address)?.port.map { LiveClient(port: $0) }
                    break
                }
            }
            let world = PurchaseServerWorld(
                client: client, admin: admin, database: database, path: path, ledger: ledger, clock: clock, keys: texts,
                entryKey: entryKey)
            try await body(world)
            let findings = try await findingsAtRest { try await ledger.audit().findings }
            #expect(findings == [], "the audit found differences")
        }
    }

    /// Asks the listener for operators.
    func ask(_ path: String, method: HTTPRequest.Method = .get) async throws -> Answer {
        let response = try await #require(admin).execute(uri: path, method: method)
        return Answer(status: response.status.code, headers: response.headers, text: String(buffer: response.body))
    }

    /// The values of the metrics, by name and labels as they are written.
    func metrics() async throws -> [String: Double] {
        let answer = try await ask("/metrics")
        #expect(answer.status == 200)
        var values: [String: Double] = [:]
        for line in answer.text.split(separator: "\n") where !line.hasPrefix("#") {
            let end = try #require(line.lastIndex(of: " "))
            values[String(line[..<end])] = Double(line[line.index(after: end)...])
        }
        return values
    }

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let text: String

        /// The message in the body.
        func message<Message: Decodable>(_: Message.Type) throws -> Message {
            try JSONDecoder().decode(Message.self, from: Data(text.utf8))
        }

        /// The problem document in the body, if it is one.
        var document: ProblemDocument? {
            get throws {
                guard headers[.contentType] == ProblemDocument.contentType else { return nil }
                let document = try message(ProblemDocument.self)
                #expect(document.status == status && !document.title.isEmpty)
                return document
            }
        }

        /// The code, if the body is a problem document.
        var problem: String? {
            get throws { try document?.code }
        }

        /// The status, with the code of a problem document.
        var line: String {
            get throws { "\(status)" + (try problem.map { " \($0)" } ?? "") }
        }
    }

    /// Sends a message as JSON.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ message: some Encodable, as scope: APIKeyScope? = .admin,
        idempotencyKey: String? = UUID().uuidString, headers more: HTTPFields = [:]
    ) async throws -> Answer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try await send(
            method, path, data: try encoder.encode(message), as: scope, idempotencyKey: idempotencyKey, headers: more)
    }

    /// Sends a request without a body.
    func send(
        _ method: HTTPRequest.Method, _ path: String, as scope: APIKeyScope? = .admin,
        idempotencyKey: String? = UUID().uuidString, headers more: HTTPFields = [:]
    ) async throws -> Answer {
        try await send(method, path, data: nil, as: scope, idempotencyKey: idempotencyKey, headers: more)
    }

    func entitlements(of customer: String, as scope: APIKeyScope = .backend) async throws -> [EntitlementMessage] {
        try await send(.get, "/v1/customers/\(customer)/entitlements", as: scope).message(EntitlementList.self)
            .entitlements
    }

    /// The recorded submissions, newest first.
    func submissions(_ query: String = "limit=500") async throws -> [SubmissionMessage] {
        try await send(.get, "/v1/submissions?\(query)", as: .backend).message(SubmissionPage.self).submissions
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, data: Data?, as scope: APIKeyScope? = .admin,
        idempotencyKey: String? = UUID().uuidString, headers more: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = more
        if let scope { headers[.authorization] = "Bearer \(try #require(keys[scope]))" }
        if let idempotencyKey { headers[try #require(HTTPField.Name("Idempotency-Key"))] = idempotencyKey }
        let response = try await client.execute(
            uri: path, method: method, headers: headers, body: data.map { ByteBuffer(bytes: $0) })
        return Answer(status: response.status.code, headers: response.headers, text: String(buffer: response.body))
    }

    /// A purchase of the coins in the minted receipt, unless the arguments differ.
    static func purchase(
        _ transaction: String = "2000000000000001", product: String = "com.example.app.coins",
        receipt: [UInt8]? = nil, customerID: String? = "alice", orderID: String? = nil
    ) throws -> PurchaseRequest {
        PurchaseRequest(
            receiptData: Data(try receipt ?? MintedWorld.mint()).base64EncodedString(), productID: product,
            transactionID: transaction, orderID: orderID, customerID: customerID)
    }

    /// A consumption of the coins.
    static func consumption(_ id: String? = nil, quantity: Int64? = nil) -> ConsumptionRequest {
        ConsumptionRequest(productID: "com.example.app.coins", quantity: quantity, consumptionID: id)
    }

    /// A receipt of a number of coins, each bought separately.
    static func coins(_ transactions: [String]) throws -> [UInt8] {
        var template = MintedWorld.receipt()
        template.purchases = transactions.map {
            .consumable(productID: "com.example.app.coins", transactionID: $0, purchaseDate: MintedWorld.moment)
        }
        return try MintedWorld.mint(template)
    }

    /// A signed transaction of Production for coins, bought and signed at the minted world's moment.
    static func signed(
        _ transaction: String, product: String = "com.example.app.coins",
        _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> SignedPurchase {
        var template = SignedTransactionTemplate()
        template.transactionID = transaction
        template.originalTransactionID = transaction
        template.bundleID = "com.example.app"
        template.productID = product
        template.type = .consumable
        template.purchaseDate = MintedWorld.moment
        template.originalPurchaseDate = MintedWorld.moment
        template.signedDate = MintedWorld.moment
        template.environment = "Production"
        change(&template)
        return SignedPurchase(
            transactionID: transaction, productID: product,
            jws: String(decoding: try MintedWorld.mint(template), as: UTF8.self))
    }

    /// A signed transaction with the given content.
    struct SignedPurchase {
        let transactionID: String
        let productID: String
        let jws: String

        /// A claim of the transaction.
        func claim(customerID: String? = "alice", orderID: String? = nil) -> PurchaseRequest {
            PurchaseRequest(
                signedTransaction: jws, productID: productID, transactionID: transactionID, orderID: orderID,
                customerID: orderID == nil ? customerID : nil)
        }
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

extension FileManager {
    func temporaryFolder() throws -> URL {
        let folder = temporaryDirectory.appending(path: "assay-server-\(UUID().uuidString)")
        try createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// A leftover folder in the temporary folder does no harm.
    func remove(_ folder: URL) { try? removeItem(at: folder) }
}
