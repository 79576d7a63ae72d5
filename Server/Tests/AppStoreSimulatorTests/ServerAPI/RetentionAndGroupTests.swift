import AppStoreSimulator
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServerTestSupport
import Testing

@Suite("29.1 Retention messages, groups and seats")
struct RetentionAndGroupTests {
    private static let message = "6f1b2c3d-0000-4000-8000-00000000000b"

    @Test("29.1 An app has a realtime URL in each environment, until it is removed")
    func realtime() async throws {
        try await ServerAPIClient.run { client in
            let url = "/inApps/v1/messaging/realtime/url"
            for isSandbox in [true, false] {
                #expect(try await client.get(url, sandbox: isSandbox).errorCode == 4_040_021)
                let wrong = try await client.send(.put, url, ["realtimeURL": "x"], sandbox: isSandbox)
                #expect(try wrong.errorCode == 4_000_215)
                let wanted = ["realtimeURL": "https://example.com/\(isSandbox)"]
                #expect(try await client.send(.put, url, wanted, sandbox: isSandbox).status == 200)
                #expect(
                    try await client.get(url, sandbox: isSandbox).object["realtimeURL"] as? String
                        == wanted["realtimeURL"])
            }
            #expect(try await client.send(.delete, url).status == 200)
            #expect(try await client.get(url).errorCode == 4_040_021)
            #expect(try await client.send(.delete, url).errorCode == 4_040_021)
            #expect(try await client.get(url, sandbox: true).status == 200)
        }
    }

    @Test("29.1 Images, messages and performance tests of the Retention Messaging API are not simulated")
    func management() async throws {
        try await ServerAPIClient.run { client in
            for path in ["image/list", "message/list", "default/gold/en-US", "performanceTest/result/1"] {
                let answer = try await client.get("/inApps/v1/messaging/\(path)", sandbox: true)
                #expect(answer.status == 404, "\(path)")
            }
        }
    }

    @Test("29.1 The store asks the realtime URL, and tells what the answer is worth")
    func retentionCall() async throws {
        let receiver = NotificationReceiver { _, number in
            let answer =
                number == 1 ? #"{"message":{"messageIdentifier":"\#(Self.message)"}}"# : #"{"message":{},"x":1}"#
            return .init(
                status: .ok, headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: answer)))
        }
        try await receiver.run { port in
            try await ServerAPIClient.run { client in
                let id = try await client.buy("gold", by: "tester")
                let path = "/control/subscriptions/\(id)/retention"
                #expect(try await client.simulator.post(path).status == 409)
                let url = ["realtimeURL": "http://127.0.0.1:\(port)/realtime"]
                let put = try await client.send(.put, "/inApps/v1/messaging/realtime/url", url, sandbox: true)
                #expect(put.status == 200)
                let visit: [String: Any] = ["user_locale": "de-DE", "limit_milliseconds": 60_000]
                let first = try await client.simulator.post(path, visit).object
                #expect(first["shown"] as? String == "message" && first["status"] as? Int == 200, "\(first)")
                let claims = try #require(try receiver.arrivals.first?.claims)
                #expect(claims["originalTransactionId"] as? String == id && claims["userLocale"] as? String == "de-DE")
                #expect(claims["environment"] as? String == "Sandbox" && claims["productId"] as? String == "gold")
                let second = try await client.simulator.post(path, ["limit_milliseconds": 60_000]).object
                #expect(second["shown"] == nil && second["problem"] is String, "\(second)")
            }
        }
    }

    @Test("29.1 The Advanced Commerce API is not there")
    func outOfScope() async throws {
        try await ServerAPIClient.run { client in
            let gold = try await client.buy("gold", by: "tester")
            for isSandbox in [true, false] {
                for path in ["subscription/cancel/\(gold)", "transaction/requestRefund/\(gold)"] {
                    let answer = try await client.send(.post, "/advancedCommerce/v1/\(path)", [:], sandbox: isSandbox)
                    #expect(answer.status == 404, "\(path)")
                }
            }
        }
    }

    @Test("29.1 The app's backend claims seats, and frees them; groups have the members of Apple's invitations")
    func seats() async throws {
        try await ServerAPIClient.run { client in
            for (product, invitations) in [("team", "DEVELOPER"), ("crew", "APPLE")] {
                try await client.simulator.post(
                    "/control/products",
                    [
                        "bundle_id": StoreWorld.app, "product_id": product, "kind": "auto-renewable",
                        "subscription": ["group_id": product, "period": "P1M", "invitations": invitations],
                    ])
            }
            try await client.simulator.post("/control/customers", ["customer_id": "member"])
            let team = try await client.buy("team", by: "tester", ["quantity": 2])
            let path = "/groups/v1/transactions/\(team)/seats"
            func counts() async throws -> [Int?] {
                let answer = try await client.get(path, sandbox: true).object
                return [
                    answer["totalSeatCount"] as? Int, answer["availableSeatCount"] as? Int,
                    (answer["assignedSeatClaimIds"] as? [String])?.count,
                ]
            }
            #expect(try await counts() == [2, 2, 0])
            var claims: [String] = []
            let coins = try await client.buy("coins", by: "tester")
            let told = try await client.get("/inApps/v1/transactions/\(coins)", sandbox: true).object
            let bought = try #require(told["signedTransactionInfo"] as? String)
            let member = try #require(try JWSClaims.read(bought)["appTransactionId"] as? String)
            for name in ["a", "a", "b"] {
                var body = ["requestIdentifier": name]
                if name == "a" { body["appTransactionId"] = member }
                let answer = try await client.send(.post, path, body, sandbox: true)
                claims.append(try #require(try answer.object["seatClaimId"] as? String, "\(answer.text)"))
            }
            #expect(claims[0] == claims[1] && claims[1] != claims[2])
            #expect(try await counts() == [2, 0, 2])
            // The member of the second seat is named afterwards.
            func members() async throws -> [String?] {
                let told = try await client.simulator.get("/control/subscriptions/\(team)").object
                return (told["seat_claims"] as? [[String: Any]])?.map { $0["app_transaction_id"] as? String } ?? []
            }
            #expect(try await members() == [member, nil])
            for (id, body, status) in [
                (claims[2], ["appTransactionId": "700000000000000001"], 404), (claims[2], [:], 400),
                (UUID().uuidString, ["appTransactionId": member], 404), (claims[2], ["appTransactionId": member], 200),
            ] {
                let answer = try await client.send(.post, "\(path)/\(id)/associate", body, sandbox: true)
                #expect(answer.status == status, "\(body) \(answer.text)")
            }
            #expect(try await members() == [member, member])
            #expect(
                try await client.send(.post, "\(path)/\(claims[2])/associate", ["appTransactionId": member]).status
                    == 404)
            let body = ["requestIdentifier": "c"]
            let none = try await client.send(.post, path, body, sandbox: true)
            #expect(try none.status == 400 && none.errorCode == nil)
            #expect(try await client.send(.delete, "\(path)/\(claims[0])", sandbox: true).status == 200)
            #expect(try await counts() == [2, 1, 1])
            // Only the sandbox has these calls.
            #expect(try await client.get(path).status == 404)

            let crew = try await client.buy("crew", by: "tester", ["quantity": 3])
            let seat = try await client.simulator.post(
                "/control/subscriptions/\(crew)/assign-seat", ["customer_id": "member"]
            ).text("transaction", "transaction_id")
            let groups = try await client.get("/groups/v1/currentGroups/\(seat)", sandbox: true).object
            let group = try #require((groups["groups"] as? [[String: Any]])?.first?["groupId"] as? String)
            #expect(group.hasPrefix("9000000000000"))
            let first = try await client.get("/groups/v1/group/\(group)?limit=1", sandbox: true).object
            #expect((first["members"] as? [Any])?.count == 1 && first["hasMore"] as? Bool == true)
            let token = try #require(first["paginationToken"] as? String)
            let rest = try await client.get(
                "/groups/v1/group/\(group)?limit=1&paginationToken=\(token)", sandbox: true
            ).object
            #expect((rest["members"] as? [Any])?.count == 1 && rest["hasMore"] as? Bool == false)
            #expect(try await client.get("/groups/v1/group/\(group)?limit=101", sandbox: true).errorCode == 4_000_004)
            #expect(try await client.get("/groups/v1/group/900", sandbox: true).errorCode == 4_040_022)
        }
    }
}
