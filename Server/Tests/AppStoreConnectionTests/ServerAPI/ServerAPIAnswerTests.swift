import AppStoreConnection
import EvidenceMint
import Foundation
import NIOHTTP1
import PurchaseVerification
import Synchronization
import Testing

@Suite("Answers of the App Store Server API")
struct ServerAPIAnswerTests {
    private static let id = "2000000000000001"

    @Test("A genuine answer is returned with Apple's text, and the environment that gave it")
    func genuine() async throws {
        try await ServerAPIWorld.run(answer: { request in
            guard request.head.uri.hasPrefix("/s/") else { return .error(4_040_010) }
            return try .json(#"{"signedTransactionInfo":"\#(SignedAnswer.transaction(environment: "Sandbox"))"}"#)
        }) { world in
            let answer = try await world.client.call(GetTransaction(Self.id), for: world.app)
            #expect(answer.environment == .sandbox)
            #expect(answer.value.content.transactionID == Self.id)
            #expect(String(decoding: answer.body, as: UTF8.self).contains(answer.value.text))
            #expect(world.lines.map { String($0.prefix(6)) } == ["GET /p", "GET /s"])
        }
    }

    /// What a lying network can answer to a question about one transaction, and the code of the error.
    private static let lies: [(name: String, code: String, answer: @Sendable () throws -> String)] = [
        ("another app", "app_store_unverified", { try SignedAnswer.transaction(bundleID: "com.example.other") }),
        ("another transaction", "app_store_other_answer", { try SignedAnswer.transaction("2000000000000002") }),
        ("the other environment", "app_store_unverified", { try SignedAnswer.transaction(environment: "Sandbox") }),
        (
            "an old answer", "app_store_old_answer",
            { try SignedAnswer.transaction(signedAt: ServerAPIWorld.moment.addingTimeInterval(-3601)) }
        ),
        ("edited claims", "app_store_unverified", { try SignedAnswer.transaction(fault: .editedClaims) }),
        (
            "an authority of their own", "app_store_unverified",
            { try SignedAnswer.transaction(authority: AppStoreAuthority()) }
        ),
        ("renewal info", "app_store_unverified", { try SignedAnswer.renewalInfo(of: id) }),
        ("no signature", "app_store_unverified", { "e30.e30.e30" }),
    ]

    @Test("A lying network is not believed", arguments: lies.indices)
    func lyingNetwork(_ index: Int) async throws {
        let lie = Self.lies[index]
        try await ServerAPIWorld.run(answer: { _ in
            try .json(#"{"signedTransactionInfo":"\#(lie.answer())"}"#)
        }) { world in
            #expect(await world.code(of: GetTransaction(Self.id)) == lie.code, "\(lie.name)")
            // Asking again would only give the liar further attempts, and the other environment is not asked.
            #expect(world.lines.count == 1)
        }
    }

    @Test("Statuses are about the subscription that was asked for, and their parts about each other")
    func statuses() async throws {
        @Sendable func body(_ original: String, _ transaction: String, _ renewal: String, bundle: String? = nil)
            -> String
        {
            """
            {"environment":"Production","bundleId":"\(bundle ?? ServerAPIWorld.bundleID)","data":[
            {"subscriptionGroupIdentifier":"9","lastTransactions":[{"status":1,"originalTransactionId":"\(original)",
            "signedTransactionInfo":"\(transaction)","signedRenewalInfo":"\(renewal)"}]}]}
            """
        }
        let own = try SignedAnswer.transaction("2000000000000007", original: Self.id)
        let ownRenewal = try SignedAnswer.renewalInfo(of: Self.id)
        let other = try SignedAnswer.transaction("3000000000000007", original: "3000000000000001")
        let otherRenewal = try SignedAnswer.renewalInfo(of: "3000000000000001")
        let cases = [
            (body(Self.id, own, ownRenewal), "answered"),
            (body("3000000000000001", other, otherRenewal), "app_store_other_answer"),
            (body(Self.id, own, otherRenewal), "app_store_other_answer"),
            (body(Self.id, other, ownRenewal), "app_store_other_answer"),
            (body(Self.id, own, ownRenewal, bundle: "com.example.other"), "app_store_other_answer"),
            (#"{"environment":"Sandbox","data":[]}"#, "app_store_other_answer"),
            (#"{"data":[]}"#, "answered"),
            (#"{"data":{}}"#, "app_store_unreadable"),
        ]
        for (json, code) in cases {
            try await ServerAPIWorld.run(answer: { _ in .json(json) }) { world in
                #expect(await world.code(of: GetSubscriptionStatuses(Self.id)) == code, "\(json.prefix(200))")
            }
        }
        try await ServerAPIWorld.run(answer: { _ in .json(body(Self.id, own, ownRenewal)) }) { world in
            let statuses = try await world.client.call(GetSubscriptionStatuses(Self.id), for: world.app).value
            #expect(statuses.subscription(of: Self.id)?.status == .active)
            #expect(statuses.subscription(of: Self.id)?.renewalInfo?.content.autoRenewStatus == .on)
        }
    }

    @Test("A page of a history with one wrong transaction is not believed at all")
    func histories() async throws {
        let (own, foreign) = (
            try SignedAnswer.transaction(), try SignedAnswer.transaction("5", bundleID: "com.example.other")
        )
        @Sendable func body(_ texts: [String], _ rest: String = #""revision":"7","hasMore":true"#) -> String {
            #"{"signedTransactions":[\#(texts.map { "\"\($0)\"" }.joined(separator: ","))],\#(rest)}"#
        }
        let cases = [
            (body([own]), "answered"), (body([own, foreign]), "app_store_unverified"),
            (body([own], #""hasMore":true"#), "app_store_unreadable"), (body([], #""hasMore":false"#), "answered"),
        ]
        for (json, code) in cases {
            try await ServerAPIWorld.run(answer: { _ in .json(json) }) { world in
                #expect(await world.code(of: GetTransactionHistory(Self.id)) == code, "\(json.suffix(60))")
                #expect(await world.code(of: GetRefundHistory(Self.id)) == code, "\(json.suffix(60))")
            }
        }
        try await ServerAPIWorld.run(answer: { _ in .json(body([own])) }) { world in
            let page = try await world.client.call(GetTransactionHistory(Self.id), for: world.app).value
            #expect(page.revision == "7" && page.hasMore)
            #expect(page.concerns(Self.id) && !page.concerns("5"))
        }
        // An order that Apple does not know has no list at all.
        try await ServerAPIWorld.run(answer: { _ in .json(#"{"status":1}"#) }) { world async throws in
            #expect(try await world.client.call(LookUpOrder("M1"), for: world.app).value == nil)
        }
    }

    @Test("A notification that cannot be read is kept; a forged one spoils its page")
    func notifications() async throws {
        let unreadable = "e30.e30"
        let genuine = try SignedAnswer.notification("a")
        @Sendable func body(_ payloads: [String]) -> String {
            let items = payloads.map {
                #"{"signedPayload":"\#($0)","sendAttempts":[{"attemptDate":1,"sendAttemptResult":"TIMED_OUT"}]}"#
            }
            return #"{"notificationHistory":[\#(items.joined(separator: ","))],"hasMore":false,"paginationToken":"x"}"#
        }
        let filter = GetNotificationHistory.Filter(from: 1, to: 2)
        try await ServerAPIWorld.run(answer: { _ in .json(body([genuine, unreadable])) }) { world in
            let page = try await world.client.call(GetNotificationHistory(filter), for: world.app).value
            #expect(page.notifications.map { $0.notification?.notificationUUID } == ["a", nil])
            #expect(page.notifications.map(\.text) == [genuine, unreadable])
            #expect(page.notifications[0].attempts.map(\.sendAttemptResult) == ["TIMED_OUT"])
            #expect(page.paginationToken == nil)
        }
        let forged = try SignedAnswer.notification("b", fault: .editedClaims)
        try await ServerAPIWorld.run(answer: { _ in .json(body([genuine, forged])) }) { world in
            #expect(await world.code(of: GetNotificationHistory(filter)) == "app_store_unverified")
        }
    }
}
