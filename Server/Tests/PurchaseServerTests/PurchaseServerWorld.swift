import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// A server with a database of its own, and a key for each scope.
struct PurchaseServerWorld: Sendable {
    let client: LiveClient
    let database: SQLiteDatabase
    let ledger: PurchaseLedger
    /// Texts of keys, by their scope.
    let keys: [APIKeyScope: String]

    static let app: RegisteredApp = {
        var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
        app.products = [
            "com.example.app.coins": RegisteredProduct(kind: .consumable),
            "com.example.app.pro": RegisteredProduct(kind: .nonConsumable),
            "com.example.app.monthly": RegisteredProduct(kind: .autoRenewable),
        ]
        return app
    }()

    /// Runs the body with a server that listens on a port of its own.
    static func run(
        busySeconds: Double = 5, uptime: TestUptime = TestUptime(),
        _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (PurchaseServerWorld) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            // A folder that stays behind in the temporary folder harms nothing.
            try? FileManager.default.removeItem(at: folder)
        }
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.anchors = [try TrustAnchor(certificate: try MintedWorld.authority().root.certificate)]
        configuration.apps = ["example": app]
        change(&configuration)
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path, busySeconds: busySeconds)
        try await LedgerMigrations.migrate(database, now: 0)
        let ledger = PurchaseLedger(
            database: database, verifier: PurchaseVerifier(anchors: configuration.anchors)
        ) { Timestamp(Date()) }
        var keys: [APIKeyScope: String] = [:]
        for scope in APIKeyScope.allCases {
            keys[scope] = try await ledger.write {
                try $0.createKey(app: "example", name: scope.rawValue, scopes: [scope])
            }.text
        }
        let texts = keys
        let server = purchaseServer(
            configuration, ledger: ledger, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            uptime: uptime.read)
        try await server.live { client async throws in
            try await body(PurchaseServerWorld(client: client, database: database, ledger: ledger, keys: texts))
        }
        try await database.close()
    }

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let text: String

        /// The members of the object that it is.
        var object: [String: Any] {
            get throws {
                try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
            }
        }

        /// A member by its path, as text.
        func value(_ path: String...) throws -> String? {
            var value: Any? = try object
            for name in path { value = (value as? [String: Any])?[name] }
            return value.map { "\($0)" }
        }

        /// The code, if it is a problem document.
        var problem: String? {
            get throws {
                guard headers[.contentType] == "application/problem+json" else { return nil }
                #expect(try object["status"] as? Int == status)
                #expect((try object["title"] as? String)?.isEmpty == false)
                return try value("code")
            }
        }
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]? = nil, as scope: APIKeyScope? = .admin,
        idempotencyKey: String? = nil, headers more: HTTPFields = [:]
    ) async throws -> Answer {
        let data = try body.map { try JSONSerialization.data(withJSONObject: $0, options: .sortedKeys) }
        return try await send(
            method, path, data: data, as: scope, idempotencyKey: idempotencyKey, headers: more)
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, data: Data?, as scope: APIKeyScope? = .admin,
        idempotencyKey: String? = nil, headers more: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = more
        if let scope { headers[.authorization] = "Bearer \(try #require(keys[scope]))" }
        if let idempotencyKey { headers[try #require(HTTPField.Name("Idempotency-Key"))] = idempotencyKey }
        let response = try await client.execute(
            uri: path, method: method, headers: headers, body: data.map { ByteBuffer(bytes: $0) })
        return Answer(
            status: response.status.code, headers: response.headers, text: String(buffer: response.body))
    }

    /// A purchase of the coins in the minted receipt, unless it says otherwise.
    static func purchase(
        _ transaction: String = "2000000000000001", product: String = "com.example.app.coins",
        receipt: [UInt8]? = nil, more: [String: Any] = ["customer_id": "alice"]
    ) throws -> [String: Any] {
        let receipt = try receipt ?? MintedWorld.mint()
        return [
            "receipt_data": Data(receipt).base64EncodedString(), "product_id": product, "transaction_id": transaction,
        ].merging(more) { $1 }
    }

    /// A receipt of so many coins, each bought by itself.
    static func coins(_ transactions: [String]) throws -> [UInt8] {
        var template = MintedWorld.receipt()
        template.purchases = transactions.map {
            .consumable(productID: "com.example.app.coins", transactionID: $0, purchaseDate: MintedWorld.moment)
        }
        return try MintedWorld.mint(template)
    }
}
