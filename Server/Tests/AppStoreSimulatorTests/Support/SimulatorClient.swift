import AppStoreSimulator
import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOFoundationCompat
import ServerTestSupport
import Testing

/// A client of the simulator: JSON in, JSON out.
struct SimulatorClient {
    let http: LiveClient

    /// Runs a simulator over real HTTP in this process, and the body with a client of it.
    static func run(
        _ configuration: SimulatorConfiguration = configuration(),
        _ body: @escaping @Sendable (SimulatorClient) async throws -> Void
    ) async throws {
        let server = try simulatorServer(configuration, authority: try StoreWorld.authority(), logger: silent)
        try await server.live { http in try await body(SimulatorClient(http: http)) }
    }

    /// A logger without output.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The settings of tests: a stopped clock, and transactions from 1 on.
    static func configuration(_ change: (inout SimulatorConfiguration) -> Void = { _ in }) -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration()
        configuration.port = 0
        configuration.clock = StoreWorld.start
        configuration.firstTransaction = 1
        change(&configuration)
        return configuration
    }

    struct Answer {
        let status: Int
        let text: String

        var object: [String: Any] {
            get throws {
                try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
            }
        }

        /// A text within objects in objects.
        func text(_ path: String...) throws -> String {
            var value: Any? = try object
            for key in path { value = (value as? [String: Any])?[key] }
            return try #require(value as? String, "\(path) is no text in \(text.prefix(300))")
        }
    }

    @discardableResult
    func post(_ path: String, _ body: [String: Any] = [:], contentType: String = "application/json") async throws
        -> Answer
    {
        let data = try JSONSerialization.data(withJSONObject: body)
        let response = try await http.execute(
            uri: path, method: .post, headers: [.contentType: contentType], body: ByteBuffer(data: data))
        return Answer(status: response.status.code, text: String(buffer: response.body))
    }

    /// Posts a body unchanged.
    func post(_ path: String, bytes: [UInt8]) async throws -> Answer {
        let response = try await http.execute(
            uri: path, method: .post, headers: [.contentType: "application/json"], body: ByteBuffer(bytes: bytes))
        return Answer(status: response.status.code, text: String(buffer: response.body))
    }

    func get(_ path: String) async throws -> Answer {
        let response = try await http.execute(uri: path, method: .get)
        return Answer(status: response.status.code, text: String(buffer: response.body))
    }

    /// One app, a consumable, a subscription of a month, and the customers `ada` (production) and `tester` (sandbox).
    func openShop(secret: String? = nil, kind: String = "auto-renewable") async throws {
        var app: [String: Any] = ["bundle_id": StoreWorld.app, "grace_period_days": 16]
        if let secret { app["shared_secret"] = secret }
        try await post("/control/apps", app)
        try await post("/control/products", ["bundle_id": StoreWorld.app, "product_id": "coins", "kind": "consumable"])
        try await post(
            "/control/products",
            [
                "bundle_id": StoreWorld.app, "product_id": "gold", "kind": kind, "price": 9990,
                "subscription": ["group_id": "club", "period": "P1M"],
            ])
        try await post("/control/customers", ["customer_id": "ada", "environment": "production"])
        try await post("/control/customers", ["customer_id": "tester"])
    }

    @discardableResult
    func buy(_ productID: String, by customerID: String = "ada", _ more: [String: Any] = [:]) async throws -> Answer {
        let answer = try await post(
            "/control/purchases",
            ["bundle_id": StoreWorld.app, "product_id": productID, "customer_id": customerID].merging(more) { $1 })
        #expect(answer.status == 201, "\(answer.text)")
        return answer
    }

    func verify(_ receipt: String, _ more: [String: Any] = [:], sandbox: Bool = false) async throws -> Answer {
        try await post(
            sandbox ? "/sandbox/verifyReceipt" : "/verifyReceipt", ["receipt-data": receipt].merging(more) { $1 })
    }
}
