import AppStoreConnection
import Foundation
import NIOHTTP1
import PurchaseVerification
import Synchronization
import Testing

@Suite("Requests to the App Store Server API")
struct ServerAPIRequestTests {
    private typealias Row = UnsignedOperation

    /// Every operation with the line and the body of its request.
    private static let operations: [(any AppStoreServerOperation, String, String?)] = {
        let text = "0b8c4c4e-5f3a-4b57-9d60-11e0a1b2c3d4"
        var filter = GetTransactionHistory.Filter()
        (filter.startDate, filter.endDate) = (1, 2)
        (filter.productIDs, filter.productTypes) = (["a", "b c"], ["CONSUMABLE"])
        (filter.isDescending, filter.isRevoked, filter.subscriptionGroups) = (true, true, ["9"])
        var notifications = GetNotificationHistory.Filter(from: 1, to: 2)
        notifications.onlyFailures = true
        let messaging = "/inApps/v1/messaging"
        var operations: [(any AppStoreServerOperation, String, String?)] = [
            (GetTransaction("1"), "GET /inApps/v1/transactions/1", nil),
            (GetAppTransaction("1"), "GET /inApps/v1/transactions/appTransactions/1", nil),
            (
                GetSubscriptionStatuses("1", statuses: [.active, .revoked]),
                "GET /inApps/v1/subscriptions/1?status=1&status=5", nil
            ),
            (
                ExtendRenewalDate("1", days: 30, reason: .serviceIssue, requestIdentifier: "r"),
                "PUT /inApps/v1/subscriptions/extend/1",
                #"{"extendByDays":30,"extendReasonCode":3,"requestIdentifier":"r"}"#
            ),
            (
                GetTransactionHistory("1", revision: "7_8", filter: filter),
                "GET /inApps/v2/history/1?revision=7_8&startDate=1&endDate=2&productId=a&productId=b%20c"
                    + "&productType=CONSUMABLE&sort=DESCENDING&revoked=true&subscriptionGroupIdentifier=9", nil
            ),
            (GetRefundHistory("1", revision: "7"), "GET /inApps/v2/refund/lookup/1?revision=7", nil),
            (GetLatestRefunds("1"), "GET /inApps/v1/refund/lookup/1", nil),
            (LookUpOrder("MK5X"), "GET /inApps/v1/lookup/MK5X", nil),
            (
                GetNotificationHistory(notifications, paginationToken: "t"),
                "POST /inApps/v1/notifications/history?paginationToken=t",
                #"{"endDate":2,"onlyFailures":true,"startDate":1}"#
            ),
            (RequestTestNotification(), "POST /inApps/v1/notifications/test", nil),
            (GetTestNotification("t"), "GET /inApps/v1/notifications/test/t", nil),
        ]
        let consumption = ConsumptionInformation(
            customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered,
            consumptionPercentage: 50_000, refundPreference: .grantProrated)
        let seats = "/groups/v1/transactions/1/seats"
        operations += [
            (Row(.finishTransaction, "1"), "POST /inApps/v1/transactions/1/finish", nil),
            (
                Row(.setAppAccountToken, "1", json: ["appAccountToken": text]),
                "PUT /inApps/v1/transactions/1/appAccountToken", #"{"appAccountToken":"\#(text)"}"#
            ),
            (
                Row(.sendConsumption, "1", json: consumption), "PUT /inApps/v2/transactions/consumption/1",
                #"{"consumptionPercentage":50000,"customerConsented":true,"deliveryStatus":"DELIVERED","refundPreference":"GRANT_PRORATED","sampleContentProvided":false}"#
            ),
            (
                Row(.sendConsumptionV1, "1", json: ConsumptionInformationV1(customerConsented: true)),
                "PUT /inApps/v1/transactions/consumption/1", #"{"customerConsented":true}"#
            ),
            (
                Row(.sendExternalReport, json: ["requestIdentifier": text]), "PUT /externalPurchase/v1/reports",
                #"{"requestIdentifier":"\#(text)"}"#
            ),
            (Row(.getExternalReport, text), "GET /externalPurchase/v1/reports/\(text)", nil),
            (
                Row(.extendAllRenewalDates, json: ["requestIdentifier": "r"]),
                "POST /inApps/v1/subscriptions/extend/mass", #"{"requestIdentifier":"r"}"#
            ),
            (Row(.getExtensionStatus, "gold", "r"), "GET /inApps/v1/subscriptions/extend/mass/gold/r", nil),
            (Row(.getCurrentGroups, "1"), "GET /groups/v1/currentGroups/1", nil),
            (
                Row(.getGroupMembers, "9", query: [("paginationToken", "t"), ("limit", "10")]),
                "GET /groups/v1/group/9?paginationToken=t&limit=10", nil
            ),
            (Row(.getSeats, "1"), "GET \(seats)", nil),
            (
                Row(.claimSeat, "1", json: ["requestIdentifier": text]), "POST \(seats)",
                #"{"requestIdentifier":"\#(text)"}"#
            ),
            (
                Row(.associateSeat, "1", "c", json: ["appTransactionId": "7"]), "POST \(seats)/c/associate",
                #"{"appTransactionId":"7"}"#
            ),
            (Row(.unclaimSeat, "1", "c"), "DELETE \(seats)/c", nil),
        ]
        let png = AppStoreServerRequest.Body(bytes: Array("png".utf8), contentType: "image/png")
        operations += [
            (
                Row(.uploadImage, text, query: [("imageSize", "FULL_SIZE")], body: png),
                "PUT \(messaging)/image/\(text)?imageSize=FULL_SIZE", "png"
            ),
            (Row(.deleteImage, text), "DELETE \(messaging)/image/\(text)", nil),
            (Row(.listImages), "GET \(messaging)/image/list", nil),
            (
                Row(.uploadMessage, text, json: ["body": "b", "header": "h"]), "PUT \(messaging)/message/\(text)",
                #"{"body":"b","header":"h"}"#
            ),
            (Row(.deleteMessage, text), "DELETE \(messaging)/message/\(text)", nil),
            (Row(.listMessages), "GET \(messaging)/message/list", nil),
            (
                Row(.setDefaultMessage, "gold", "en-US", json: ["messageIdentifier": text]),
                "PUT \(messaging)/default/gold/en-US", #"{"messageIdentifier":"\#(text)"}"#
            ),
            (Row(.getDefaultMessage, "gold", "en-US"), "GET \(messaging)/default/gold/en-US", nil),
            (Row(.deleteDefaultMessage, "gold", "en-US"), "DELETE \(messaging)/default/gold/en-US", nil),
            (
                Row(.setRealtimeURL, json: ["realtimeURL": "https://a/b"]), "PUT \(messaging)/realtime/url",
                #"{"realtimeURL":"https://a/b"}"#
            ),
            (Row(.getRealtimeURL), "GET \(messaging)/realtime/url", nil),
            (Row(.deleteRealtimeURL), "DELETE \(messaging)/realtime/url", nil),
            (
                Row(.startPerformanceTest, json: ["originalTransactionId": "1"]),
                "POST \(messaging)/performanceTest", #"{"originalTransactionId":"1"}"#
            ),
            (Row(.getPerformanceTest, "p"), "GET \(messaging)/performanceTest/result/p", nil),
        ]
        return operations
    }()

    @Test("Every operation has Apple's method, path, query and body, and goes to an environment that has it")
    func form() async throws {
        let calls = Self.operations.compactMap { ($0.0 as? UnsignedOperation)?.call }
        #expect(calls.count == UnsignedCall.allCases.count && Set(calls) == Set(UnsignedCall.allCases))
        #expect(Self.operations.count == 11 + calls.count)
        try await ServerAPIWorld.run(answer: { _ in .json("{}", status: .badRequest) }) { world in
            for (operation, line, body) in Self.operations {
                _ = await world.code(of: operation)
                let request = try #require(world.server.requests.last)
                let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
                #expect(request.head.method.rawValue == parts[0])
                #expect(request.head.uri.dropFirst(2) == parts[1])
                #expect(request.body == body ?? "", "\(line)")
                let type = request.head.headers.first(name: "content-type")
                #expect(type == (body == nil ? nil : body == "png" ? "image/png" : "application/json"), "\(line)")
                let isOfSandbox = line.contains("/groups/") || line.contains("performanceTest")
                #expect(request.head.uri.hasPrefix(isOfSandbox ? "/s/" : "/p/"), "\(line)")
            }
        }
    }

    @Test("54.3 Groups and seats are asked for where the settings say that Apple has them")
    func groups() async throws {
        let cases: [(Set<ValidationEnvironment>, ValidationEnvironment?, [String])] = [
            ([.sandbox], nil, ["/s/"]), ([.production], nil, ["/p/"]), ([.production, .sandbox], nil, ["/p/", "/s/"]),
            ([.sandbox], .production, []), ([.production, .sandbox], .sandbox, ["/s/"]),
        ]
        for (groups, environment, expected) in cases {
            try await ServerAPIWorld.run(groups: groups, answer: { _ in .error(4_040_010) }) { world in
                for operation in Self.operations where operation.1.contains("/groups/") {
                    let count = world.server.requests.count
                    _ = await world.code(of: operation.0, in: environment)
                    let asked = world.server.requests.dropFirst(count).map { String($0.head.uri.prefix(3)) }
                    #expect(asked == expected, "\(operation.1)")
                }
            }
        }
    }

    @Test("Only a call that can be made again without harm is made again")
    func repeating() async throws {
        for (operation, line, _) in Self.operations {
            try await ServerAPIWorld.run(answer: { _ in .error(5_000_001) }) { world in
                _ = await world.code(of: operation)
                let isUnsafe =
                    line.contains("extend/1") || line.hasSuffix("notifications/test")
                    || line.contains("PUT") && (line.contains("/image/") || line.contains("/message/"))
                    || line.hasSuffix("performanceTest") || line.contains("PUT") && line.hasSuffix("/reports")
                #expect(world.lines.count == (isUnsafe ? 1 : 4), "\(line)")
            }
        }
    }

    @Test("An identifier stays in its part of the path")
    func escaping() async throws {
        try await ServerAPIWorld.run(answer: { _ in .error(4_040_010) }) { world in
            for id in ["../../x", "a/b?c=d#e", "..", "ä", "%2F"] {
                _ = await world.code(of: GetTransaction(id), in: .production)
            }
            #expect(
                world.server.requests.map(\.head.uri)
                    == [
                        "..%2F..%2Fx", "a%2Fb%3Fc%3Dd%23e", "%2E%2E", "%C3%A4", "%252F",
                    ].map { "/p/inApps/v1/transactions/\($0)" })
        }
    }

    @Test("A token is signed by ES256, names the app, is a minute in the past, and is replaced at half of its life")
    func tokens() async throws {
        let key = TestKey()
        let seconds = Mutex<TimeInterval>(0)
        try await ServerAPIWorld.run(
            keys: [key], time: { ServerAPIWorld.moment.addingTimeInterval(seconds.withLock { $0 }) },
            answer: { _ in .json("{}") }
        ) { world in
            for time in [0, 599, 600, 1199, 1300] as [TimeInterval] {
                seconds.withLock { $0 = time }
                _ = try await world.client.call(UnsignedOperation(.finishTransaction, "1"), for: world.app)
            }
            let start = Int(ServerAPIWorld.moment.timeIntervalSince1970)
            var issued: [Int] = []
            for request in world.server.requests {
                let claims = try key.claims(of: request)
                let time = try #require(claims["iat"] as? Int)
                issued.append(time - start)
                #expect(claims["exp"] as? Int == time + 1200)
                #expect(claims["iss"] as? String == key.issuerID)
                #expect(claims["aud"] as? String == "appstoreconnect-v1")
                #expect(claims["bid"] as? String == ServerAPIWorld.bundleID)
                #expect(claims.count == 5)
            }
            #expect(issued == [0, 0, 600, 600, 1300].map { $0 - 60 })
        }
    }

    @Test("After 401 the next key is used, and from then on first")
    func rotation() async throws {
        let (old, new) = (TestKey(keyID: "OLD"), TestKey(keyID: "NEW"))
        try await ServerAPIWorld.run(
            keys: [old, new],
            answer: { request in
                old.signed(request) ? .json("Unauthenticated", status: .unauthorized) : .json("{}")
            }
        ) { world in
            for _ in 0..<2 {
                _ = try await world.client.call(FinishTransaction("1"), for: world.app)
            }
            // The old key, the new one, and for the second call only the new one.
            #expect(world.server.requests.count == 3)
        }
        try await ServerAPIWorld.run(keys: [old, new], answer: { _ in .json("no", status: .unauthorized) }) { world in
            #expect(
                await world.code(of: FinishTransaction("1"), in: .sandbox)
                    == "app_store_unauthorized")
            #expect(world.lines == Array(repeating: "POST /s/inApps/v1/transactions/1/finish", count: 2))
        }
        try await ServerAPIWorld.run(keys: [], answer: { _ in .json("{}") }) { world in
            #expect(await world.code(of: UnsignedOperation(.finishTransaction, "1")) == "app_store_not_configured")
            #expect(world.lines == [])
        }
    }

    @Test("No description of a key has its private part")
    func secrecy() throws {
        let key = try TestKey().key()
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "key 2X9R4HXF34 of 57246542-96fe-1a63-e053-0824d011072a")
        for text in ["\(key)", String(reflecting: key), dumped] { #expect(!text.contains("P256")) }
        #expect(throws: AppStoreServerKeyError.privateKey) {
            try AppStoreServerKey(issuerID: "i", keyID: "k", privateKey: "-----BEGIN PRIVATE KEY-----")
        }
    }
}
