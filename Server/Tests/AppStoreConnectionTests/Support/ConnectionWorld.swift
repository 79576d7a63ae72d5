import AppStoreConnection
import AppStoreSimulator
import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOFoundationCompat
import PurchaseAPI
import ServerTestSupport
import Synchronization
import Testing

/// A simulated store on HTTP and HTTPS, and clients of it.
struct ConnectionWorld: Sendable {
    static let app = "com.example.app"
    static let secret = "s3cret-of-the-app"
    static let start = Date(timeIntervalSince1970: 1_769_860_800)  // 2026-01-31T12:00:00Z

    let control: LiveClient
    /// `https://localhost:PORT`.
    let https: String
    let trustFile: String

    var http: String { "http://127.0.0.1:\(control.port)" }

    static let authority = Result { try AppStoreAuthority() }

    /// Runs the store while the body runs.
    static func run(_ body: @escaping @Sendable (ConnectionWorld) async throws -> Void) async throws {
        let servers = try ServerCertificateAuthority()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let trustFile = folder.appendingPathComponent("root.pem").path
        try Data(servers.root.pem.utf8).write(to: URL(fileURLWithPath: trustFile))
        var configuration = SimulatorConfiguration()
        configuration.port = 0
        configuration.clock = start
        configuration.firstTransaction = 1
        configuration.https = .init(port: 0, authority: servers)
        let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
        let server = try simulatorServer(
            configuration, authority: try authority.get(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onHTTPSReady: { continuation.yield($0) })
        try await server.live { control in
            var iterator = addresses.makeAsyncIterator()
            let address = try #require(await iterator.next())
            let https = address.replacingOccurrences(of: "127.0.0.1", with: "localhost")
            let world = ConnectionWorld(control: control, https: https, trustFile: trustFile)
            try await world.openShop()
            try await body(world)
        }
    }

    /// One app with a secret, a consumable and a subscription, and the customers `ada` (production) and `tester`
    /// (sandbox).
    private func openShop() async throws {
        try await post("apps", ["bundle_id": Self.app, "shared_secret": Self.secret])
        try await post("products", ["bundle_id": Self.app, "product_id": "coins", "kind": "consumable"])
        try await post(
            "products",
            [
                "bundle_id": Self.app, "product_id": "gold", "kind": "auto-renewable", "price": 9990,
                "subscription": ["group_id": "club", "period": "P1M"],
            ])
        try await post("customers", ["customer_id": "ada", "environment": "production"])
        try await post("customers", ["customer_id": "grace", "environment": "production"])
        try await post("customers", ["customer_id": "tester"])
    }

    @discardableResult
    func post(_ path: String, _ body: [String: Any]) async throws -> [String: Any] {
        let data = try JSONSerialization.data(withJSONObject: body)
        return try await call(path, .post, ByteBuffer(data: data))
    }

    func call(_ path: String, _ method: HTTPRequest.Method, _ body: ByteBuffer? = nil) async throws -> [String: Any] {
        let response = try await control.execute(
            uri: "/control/\(path)", method: method, headers: [.contentType: "application/json"], body: body)
        let text = String(buffer: response.body)
        try #require((200..<300).contains(response.status.code), "\(path): \(text)")
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// Buys a product, and returns the bytes of a piece of its evidence.
    func receipt(
        of productID: String, by customerID: String = "ada", _ kind: String = "app_receipt"
    ) async throws -> [UInt8] {
        let answer = try await post(
            "purchases", ["bundle_id": Self.app, "product_id": productID, "customer_id": customerID])
        let evidence = try #require(answer["evidence"] as? [String: Any])
        let text = try #require(evidence[kind] as? String)
        return [UInt8](try #require(Data(base64Encoded: text)))
    }

    /// The number of answers that the faults still apply to.
    func faultsLeft() async throws -> Int {
        let faults = try await call("faults", .get)
        return (faults["answers"] as? [[String: Any]] ?? []).compactMap { $0["count"] as? Int }.reduce(0, +)
    }

    /// Runs the body with a client of the store over HTTPS.
    func client(
        at base: String? = nil, limits: AttemptLimits = .patient, clock: ManualClock = ManualClock(),
        trust: Bool = true, changes: CircuitChanges = CircuitChanges(),
        _ body: (VerifyReceiptClient) async throws -> Void
    ) async throws {
        let base = base ?? https
        let settings = try AppStoreConnectionSettings(
            production: "\(base)/verifyReceipt", sandbox: "\(base)/sandbox/verifyReceipt",
            trustFile: trust ? trustFile : nil)
        try await VerifyReceiptClient.run(settings, limits: limits, clock: clock, changes: changes, body)
    }
}

extension VerifyReceiptClient {
    /// Runs the body with a client, and closes it.
    static func run(
        _ settings: AppStoreConnectionSettings, limits: AttemptLimits = .patient, clock: ManualClock = ManualClock(),
        changes: CircuitChanges = CircuitChanges(), _ body: (VerifyReceiptClient) async throws -> Void
    ) async throws {
        let client = try VerifyReceiptClient(
            settings, limits: limits, clock: clock.connectionClock(), onCircuitChange: { changes.add($0, $1) })
        do {
            try await body(client)
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }
}

extension AttemptLimits {
    /// Limits for tests on a busy machine.
    static let patient = AttemptLimits(connect: .minutes(2), read: .minutes(2), whole: .minutes(4))
}

/// The circuit changes that a client reported.
final class CircuitChanges: Sendable {
    private let changes = Mutex<[String]>([])

    func add(_ environment: ValidationEnvironment, _ change: CircuitBreaker.Change) {
        changes.withLock { $0.append("\(environment.rawValue) \(change)") }
    }

    var all: [String] { changes.withLock { $0 } }
}

extension ReceiptValidationRequest {
    /// A question of the test app.
    init(_ receipt: [UInt8], _ autoRenewables: AutoRenewables = .absent, secret: String? = ConnectionWorld.secret) {
        self.init(
            receipt: receipt, app: "game", autoRenewables: autoRenewables,
            sharedSecret: secret.flatMap { SharedSecret($0) })
    }
}

extension ReceiptValidationOutcome {
    /// A short form: `0 Production`, or the code.
    var short: String {
        switch self {
        case .conclusive(let reply): "\(reply.status.rawValue) \(reply.environment.rawValue)"
        case .undetermined(let reason): reason.code.rawValue
        }
    }
}

/// A clock that stands still until it is moved. A sleeper moves it instead of waiting.
final class ManualClock: Sendable {
    private let state = Mutex(State())

    private struct State {
        var now = Duration.zero
        var sleeps: [Duration] = []
    }

    /// The clock, with a random number that is always the same.
    func connectionClock(random: Double = 0) -> ConnectionClock {
        ConnectionClock(
            now: { self.state.withLock { $0.now } },
            sleep: { pause in
                self.state.withLock { state in
                    state.now += pause
                    state.sleeps.append(pause)
                }
            },
            random: { random })
    }

    func advance(_ duration: Duration) { state.withLock { $0.now += duration } }

    /// The pauses so far.
    var sleeps: [Duration] { state.withLock { $0.sleeps } }
}
