import AppStoreConnection
import Crypto
import EvidenceMint
import Foundation
import NIOHTTP1
import PurchaseVerification
import Synchronization
import Testing

/// A client of the App Store Server API, and a server that a test answers for.
struct ServerAPIWorld: Sendable {
    static let bundleID = "com.example.app"
    /// The time of the store.
    static let moment = ConnectionWorld.start

    let server: RecordingServer
    let client: AppStoreServerClient
    let app: AppStoreServerApp
    let clock: ManualClock
    let changes: CircuitChanges

    typealias Answer = @Sendable (RecordingServer.Request) async throws -> RecordingServer.Reply

    /// Runs the body with a client whose production is `/p` and whose sandbox is `/s` of one server.
    static func run(
        keys: [TestKey] = [TestKey()], time: @escaping @Sendable () -> Date = { moment },
        skew: ClockSkew? = nil, limitFactor: Double = 1000, groups: Set<ValidationEnvironment> = [.sandbox],
        answer: @escaping Answer,
        _ body: @escaping @Sendable (ServerAPIWorld) async throws -> Void
    ) async throws {
        try await RecordingServer.run(answer: { request in
            do {
                return try await answer(request)
            } catch {
                Issue.record("\(error)")
                return RecordingServer.Reply(status: .internalServerError)
            }
        }) { server, port in
            var settings = try AppStoreServerSettings(
                production: "http://127.0.0.1:\(port)/p", sandbox: "http://127.0.0.1:\(port)/s")
            (settings.limitFactor, settings.groupEnvironments) = (limitFactor, groups)
            let (clock, changes) = (ManualClock(), CircuitChanges())
            let client = try AppStoreServerClient(
                settings, limits: .patient, clock: clock.connectionClock(), time: time,
                storeTime: { AppStoreTime(moment) }, skew: skew, onCircuitChange: { changes.add($0, $1) })
            let verifier = PurchaseVerifier(anchors: try TrustAnchor.certificates(of: ConnectionWorld.authority.get()))
            let app = AppStoreServerApp(
                "game", bundleID: bundleID, keys: try keys.map { try $0.key() }, verifier: verifier)
            let world = ServerAPIWorld(server: server, client: client, app: app, clock: clock, changes: changes)
            do {
                try await body(world)
            } catch {
                try await client.shutdown()
                throw error
            }
            try await client.shutdown()
        }
    }

    /// The requests so far, as `GET /p/…`.
    var lines: [String] { server.requests.map { "\($0.head.method.rawValue) \($0.head.uri)" } }

    /// The code of the error of a call, or `answered`.
    func code<Operation: AppStoreServerOperation>(
        of operation: Operation, in environment: ValidationEnvironment? = nil
    ) async -> String {
        do throws(AppStoreServerError) {
            _ = try await client.call(operation, for: app, in: environment)
            return "answered"
        } catch {
            return error.code.rawValue + (error.number.map { " \($0.rawValue)" } ?? "")
        }
    }
}

/// A key of the App Store Server API.
struct TestKey: Sendable {
    var issuerID = "57246542-96fe-1a63-e053-0824d011072a"
    var keyID = "2X9R4HXF34"
    let privateKey = P256.Signing.PrivateKey()

    func key() throws -> AppStoreServerKey {
        try AppStoreServerKey(issuerID: issuerID, keyID: keyID, privateKey: privateKey.pemRepresentation)
    }

    /// The claims of a token that this key signed.
    func claims(of request: RecordingServer.Request) throws -> [String: Any] {
        let bearer = try #require(request.head.headers.first(name: "authorization"))
        let parts = bearer.replacing("Bearer ", with: "").split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: Self.decoded(parts[2]))
        try #require(
            privateKey.publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)),
            "the key did not sign the token")
        let header = try JSONSerialization.jsonObject(with: Self.decoded(parts[0])) as? [String: String]
        #expect(header == ["alg": "ES256", "kid": keyID, "typ": "JWT"])
        return try #require(try JSONSerialization.jsonObject(with: Self.decoded(parts[1])) as? [String: Any])
    }

    /// Whether the token of a request names this key.
    func signed(_ request: RecordingServer.Request) -> Bool {
        let bearer = request.head.headers.first(name: "authorization") ?? ""
        let head = bearer.replacing("Bearer ", with: "").split(separator: ".").first.map(String.init) ?? ""
        return (try? Self.decoded(head)).map { String(decoding: $0, as: UTF8.self).contains(keyID) } ?? false
    }

    private static func decoded(_ text: String) throws -> Data {
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        return try #require(Data(base64Encoded: base64))
    }
}

/// What Apple would sign.
enum SignedAnswer {
    static func transaction(
        _ id: String = "2000000000000001", original: String? = nil, bundleID: String = ServerAPIWorld.bundleID,
        environment: String = "Production", signedAt: Date = ServerAPIWorld.moment, fault: SignedPayloadFault? = nil,
        authority: AppStoreAuthority? = nil
    ) throws -> String {
        var template = SignedTransactionTemplate()
        template.transactionID = id
        template.originalTransactionID = original ?? id
        template.bundleID = bundleID
        template.productID = "gold"
        template.type = .autoRenewableSubscription
        template.purchaseDate = ServerAPIWorld.moment.addingTimeInterval(-86_400)
        template.originalPurchaseDate = template.purchaseDate
        template.expiresDate = ServerAPIWorld.moment.addingTimeInterval(86_400)
        template.environment = environment
        template.signedDate = signedAt
        return try encoder(authority).encode(template, fault: fault)
    }

    static func renewalInfo(
        of original: String, environment: String = "Production", signedAt: Date = ServerAPIWorld.moment
    ) throws -> String {
        var template = RenewalInfoTemplate()
        template.originalTransactionID = original
        template.autoRenewProductID = "gold"
        template.productID = "gold"
        template.autoRenewStatus = 1
        template.environment = environment
        template.signedDate = signedAt
        return try encoder().encode(template)
    }

    static func notification(_ uuid: String, fault: SignedPayloadFault? = nil) throws -> String {
        var template = NotificationTemplate()
        template.notificationType = "TEST"
        template.notificationUUID = uuid
        template.signedDate = ServerAPIWorld.moment
        var data = NotificationTemplate.Data()
        data.bundleID = ServerAPIWorld.bundleID
        data.environment = "Production"
        template.data = data
        return try encoder().encode(template, fault: fault)
    }

    private static func encoder(_ authority: AppStoreAuthority? = nil) throws -> SignedPayloadEncoder {
        try SignedPayloadEncoder(authority: authority ?? ConnectionWorld.authority.get())
    }
}

extension RecordingServer.Reply {
    /// An answer in JSON.
    static func json(_ body: String, status: HTTPResponseStatus = .ok) -> Self { Self(status: status, body: body) }

    /// An error of Apple's.
    static func error(_ number: Int64, status: HTTPResponseStatus? = nil) -> Self {
        let code = Int(number / 10_000)
        let status = status ?? HTTPResponseStatus(statusCode: code)
        return json(#"{"errorCode":\#(number),"errorMessage":"of a test"}"#, status: status)
    }
}

/// The row `finishTransaction` under a short name: the call with the simplest answer.
struct FinishTransaction: AppStoreServerOperation {
    typealias Answer = Void

    let request: AppStoreServerRequest

    init(_ transactionID: String) { request = UnsignedOperation(.finishTransaction, transactionID).request }
}
