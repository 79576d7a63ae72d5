import AppStoreSimulator
import Crypto
import Foundation
import HTTPTypes
import ServerTestSupport
import Testing

@Suite("29.1 Each wrong token of the App Store Server API has a name")
struct ServerAPITokenTests {
    @Test("29.1 C.1 A token with and without 'iat' is accepted, and each of its wrong forms is refused by its name")
    func tokens() async throws {
        try await ServerAPIClient.run { client in
            let id = try await client.buy("coins")
            let path = "/inApps/v1/transactions/\(id)"
            #expect(try await client.get(path).status == 200)
            let unstated = try client.token(client.claims { $0["iat"] = nil })
            #expect(try await client.send(.get, path, authorization: "Bearer \(unstated)").status == 200)
            let hour = try client.token(
                client.claims { $0["exp"] = Int(Date().timeIntervalSince1970) + 3590 })
            #expect(try await client.send(.get, path, authorization: "Bearer \(hour)").status == 200)

            let now = Int(Date().timeIntervalSince1970)
            let good = try client.token(client.claims())
            let parts = good.split(separator: ".")
            let hmac = "\(ServerAPIClient.base64URL(Data(#"{"alg":"HS256","kid":"x"}"#.utf8))).\(parts[1]).\(parts[2])"
            let wrong: [(String, String)] = [
                ("token_missing", ""),
                ("token_missing", "Basic \(good)"),
                ("token_malformed", "Bearer \(parts[0]).\(parts[1])"),
                ("token_malformed", "Bearer a.b.c"),
                ("token_wrong_algorithm", "Bearer \(hmac)"),
                ("token_wrong_type", "Bearer \(try client.token(client.claims()) { $0["typ"] = "JWS" })"),
                ("token_unknown_key", "Bearer \(try client.token(client.claims()) { $0["kid"] = "ABCDEFGHIJ" })"),
                (
                    "token_wrong_signature",
                    "Bearer \(try client.token(client.claims(), key: P256.Signing.PrivateKey()))"
                ),
                ("token_wrong_issuer", "Bearer \(try client.token(client.claims { $0["iss"] = "another" }))"),
                ("token_wrong_audience", "Bearer \(try client.token(client.claims { $0["aud"] = "appstoreconnect" }))"),
                ("token_wrong_bundle_id", "Bearer \(try client.token(client.claims { $0["bid"] = nil }))"),
                ("token_wrong_bundle_id", "Bearer \(try client.token(client.claims { $0["bid"] = "com.example.x" }))"),
                ("token_missing_expiry", "Bearer \(try client.token(client.claims { $0["exp"] = nil }))"),
                ("token_expired", "Bearer \(try client.token(client.claims { $0["exp"] = now - 1 }))"),
                ("token_lasts_too_long", "Bearer \(try client.token(client.claims { $0["exp"] = now + 3700 }))"),
                ("token_lasts_too_long", "Bearer \(try client.token(client.claims { $0["exp"] = Int64.max }))"),
                (
                    "token_from_the_future",
                    "Bearer \(try client.token(client.claims { $0["iat"] = now + 1800; $0["exp"] = now + 2700 }))"
                ),
            ]
            for (name, authorization) in wrong {
                let answer = try await client.send(.get, path, authorization: authorization)
                let reason = answer.headers[try #require(HTTPField.Name("Assay-Reason"))]
                #expect(answer.status == 401 && reason == name, "\(name): \(answer.status) \(reason ?? "")")
                #expect(answer.text.hasPrefix("Unauthenticated") && answer.headers[.contentType] == "text/plain")
            }
        }
    }

    @Test("29.1 A key of one app is no key of another, and a deleted key is none")
    func keys() async throws {
        try await ServerAPIClient.run { client in
            let id = try await client.buy("coins")
            let simulator = client.simulator
            try await simulator.post("/control/apps", ["bundle_id": "com.example.other"])
            let answer = try await simulator.post(
                "/control/api-keys", ["issuer_id": client.issuerID, "bundle_id": "com.example.other"])
            #expect(try answer.text("issuer_id") == client.issuerID)
            let key = try P256.Signing.PrivateKey(pemRepresentation: try answer.text("private_key"))
            let keyID = try answer.text("key_id")
            let foreign = try client.token(client.claims(), header: { $0["kid"] = keyID }, key: key)
            let path = "/inApps/v1/transactions/\(id)"
            #expect(try await client.send(.get, path, authorization: "Bearer \(foreign)").status == 401)
            let own = try client.token(
                client.claims { $0["bid"] = "com.example.other" }, header: { $0["kid"] = keyID }, key: key)
            // The token is good, but the transaction is another app's.
            #expect(try await client.send(.get, path, authorization: "Bearer \(own)").errorCode == 4_040_010)
            let list = try await simulator.get("/control/api-keys")
            #expect(list.text.contains(client.keyID) && !list.text.contains("PRIVATE KEY"))
            let deleted = try await simulator.http.execute(
                uri: "/control/api-keys/\(client.keyID)", method: .delete, headers: [.contentType: "application/json"])
            #expect(deleted.status == .ok)
            #expect(try await client.get(path).status == 401)
        }
    }

    @Test("29.1 Production refuses the tokens of an app that was never released, and the sandbox takes them")
    func unreleased() async throws {
        try await ServerAPIClient.run { client in
            let id = try await client.buy("coins", by: "tester")
            let released = ["bundle_id": StoreWorld.app, "is_released": false] as [String: Any]
            #expect(try await client.simulator.post("/control/apps/release", released).status == 200)
            let path = "/inApps/v1/transactions/\(id)"
            #expect(try await client.get(path).status == 401)
            #expect(try await client.get(path, sandbox: true).status == 200)
        }
    }
}
