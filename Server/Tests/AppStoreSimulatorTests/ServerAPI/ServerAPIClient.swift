import AppStoreSimulator
import Crypto
import Foundation
import HTTPTypes
import NIOCore
import NIOFoundationCompat
import ServerTestSupport
import Testing

/// A client of the App Store Server API, written from Apple's pages: it makes tokens and sends them.
struct ServerAPIClient {
    let simulator: SimulatorClient
    let issuerID: String
    let keyID: String
    let privateKey: P256.Signing.PrivateKey
    var bundleID = StoreWorld.app

    /// Asks the simulator for a key, with Apple's limits raised so far that no test reaches them.
    init(_ simulator: SimulatorClient, limitFactor: Double = 10_000) async throws {
        self.simulator = simulator
        let answer = try await simulator.post("/control/api-keys")
        #expect(answer.status == 201, "\(answer.text)")
        issuerID = try answer.text("issuer_id")
        keyID = try answer.text("key_id")
        let pem = try answer.text("private_key")
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----"))
        privateKey = try P256.Signing.PrivateKey(pemRepresentation: pem)
        #expect(try await simulator.post("/control/server-api/limits", ["factor": limitFactor]).status == 200)
    }

    /// A client of another run, with the key of an earlier one.
    init(_ simulator: SimulatorClient, key earlier: ServerAPIClient) {
        self.simulator = simulator
        (issuerID, keyID, privateKey) = (earlier.issuerID, earlier.keyID, earlier.privateKey)
    }

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let text: String

        var object: [String: Any] {
            get throws {
                try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
            }
        }

        var errorCode: Int? {
            get throws { try object["errorCode"] as? Int }
        }

        /// The claims of signed data in a list.
        func signed(_ name: String) throws -> [[String: Any]] {
            try #require(try object[name] as? [String]).map { try JWSClaims.read($0) }
        }
    }

    /// The claims of a good token.
    func claims(_ change: (inout [String: Any]) -> Void = { _ in }) -> [String: Any] {
        let now = Int(Date().timeIntervalSince1970)
        var claims: [String: Any] = [
            "iss": issuerID, "iat": now, "exp": now + 300, "aud": "appstoreconnect-v1", "bid": bundleID,
        ]
        change(&claims)
        return claims
    }

    /// A signed token.
    func token(
        _ claims: [String: Any], header change: (inout [String: Any]) -> Void = { _ in },
        key: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        var header: [String: Any] = ["alg": "ES256", "kid": keyID, "typ": "JWT"]
        change(&header)
        let head = Self.base64URL(try JSONSerialization.data(withJSONObject: header))
        let body = Self.base64URL(try JSONSerialization.data(withJSONObject: claims))
        let signature = try (key ?? privateKey).signature(for: Data("\(head).\(body)".utf8))
        return "\(head).\(body).\(Self.base64URL(signature.rawRepresentation))"
    }

    static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]? = nil, sandbox: Bool = false,
        authorization: String? = nil
    ) async throws -> Answer {
        var headers: HTTPFields = [.authorization: try authorization ?? "Bearer \(token(claims()))"]
        if headers[.authorization] == "" { headers[.authorization] = nil }
        var bytes: ByteBuffer?
        if let body {
            headers[.contentType] = "application/json"
            bytes = ByteBuffer(data: try JSONSerialization.data(withJSONObject: body))
        }
        let response = try await simulator.http.execute(
            uri: (sandbox ? "/sandbox" : "") + path, method: method, headers: headers, body: bytes)
        return Answer(status: response.status.code, headers: response.headers, text: String(buffer: response.body))
    }

    func get(_ path: String, sandbox: Bool = false) async throws -> Answer {
        try await send(.get, path, sandbox: sandbox)
    }

    /// Buys, and returns the transaction's identifier.
    func buy(_ productID: String, by customerID: String = "ada", _ more: [String: Any] = [:]) async throws -> String {
        try await simulator.buy(productID, by: customerID, more).text("transaction", "transaction_id")
    }

    /// Runs a simulator with the shop of the tests and a client of its API.
    static func run(
        _ configuration: SimulatorConfiguration = SimulatorClient.configuration(), limitFactor: Double = 10_000,
        _ body: @escaping @Sendable (ServerAPIClient) async throws -> Void
    ) async throws {
        try await SimulatorClient.run(configuration) { simulator in
            try await simulator.openShop()
            try await body(try await ServerAPIClient(simulator, limitFactor: limitFactor))
        }
    }
}
