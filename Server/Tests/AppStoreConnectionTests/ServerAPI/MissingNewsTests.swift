import AppStoreConnection
import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import Synchronization
import Testing

/// Subscriptions that an answer of `verifyReceipt` lacks, asked of the App Store first.
@Suite("News that an answer of verifyReceipt lacks")
struct MissingNewsTests {
    private static let original = "2000000000000001"
    private static let statuses = "GET /p/inApps/v1/subscriptions/"

    private static func day(_ day: Double) -> Date { ServerAPIWorld.moment.addingTimeInterval(day * 86_400) }

    /// A receipt with the first of three periods.
    private static func receipt() throws -> [UInt8] {
        let period = PurchaseTemplate.subscription(
            productID: "gold", transactionID: original, originalTransactionID: original, purchaseDate: day(-61),
            originalPurchaseDate: day(-61), expiresDate: day(-31))
        return try AppReceiptEncoder(authority: ConnectionWorld.authority.get().receipts).encode(
            .production(bundleID: ServerAPIWorld.bundleID, creationDate: day(-61), purchases: [period]))
    }

    private static func transaction(_ id: String, from start: Double) throws -> String {
        var template = SignedTransactionTemplate()
        (template.transactionID, template.originalTransactionID) = (id, original)
        (template.bundleID, template.productID) = (ServerAPIWorld.bundleID, "gold")
        template.type = .autoRenewableSubscription
        (template.purchaseDate, template.originalPurchaseDate) = (day(start), day(-61))
        template.expiresDate = day(start + 30)
        (template.environment, template.signedDate) = ("Production", ServerAPIWorld.moment)
        return try SignedPayloadEncoder(authority: ConnectionWorld.authority.get()).encode(template)
    }

    /// The store's answer with the third period as the latest, and with all three as the history.
    private static func answer(_ request: RecordingServer.Request) throws -> RecordingServer.Reply {
        if request.head.uri == "/p/inApps/v1/subscriptions/\(original)" {
            let latest = try transaction("2000000000000003", from: -1)
            let renewal = try SignedAnswer.renewalInfo(of: original)
            return .json(
                """
                {"data":[{"lastTransactions":[{"status":1,"originalTransactionId":"\(original)",
                "signedTransactionInfo":"\(latest)",
                "signedRenewalInfo":"\(renewal)"}]}]}
                """)
        }
        guard request.head.uri.hasPrefix("/p/inApps/v2/history/\(original)") else {
            return .json(#"{"notificationHistory":[],"hasMore":false}"#)
        }
        let periods = try [(original, -61.0), ("2000000000000002", -31), ("2000000000000003", -1)].map {
            try "\"\(transaction($0.0, from: $0.1))\""
        }
        return .json(
            """
            {"revision":"1","bundleId":"\(ServerAPIWorld.bundleID)","environment":"Production","hasMore":false,
            "signedTransactions":[\(periods.joined(separator: ","))]}
            """)
    }

    private static func asking(within seconds: Double?) -> DropInSettings {
        var settings = DropInSettings(app: "game")
        settings.askSeconds = seconds
        return settings
    }

    /// The value of `Assay-State`, and the transactions of `latest_receipt_info`.
    private static func ask(_ world: ServerAPIClaimWorld) async throws -> (state: String?, info: [String]) {
        let body = try JSONSerialization.data(withJSONObject: [
            "receipt-data": Data(try receipt()).base64EncodedString()
        ])
        let response = try await world.client.execute(
            uri: "/verifyReceipt", method: .post, headers: [.contentType: "application/json"],
            body: ByteBuffer(data: body))
        let object = try JSONSerialization.jsonObject(with: Data(buffer: response.body)) as? [String: Any]
        #expect(object?["status"] as? Int == 0, "\(String(buffer: response.body))")
        let info = object?["latest_receipt_info"] as? [[String: Any]] ?? []
        return (
            response.headers[try #require(HTTPField.Name("Assay-State"))],
            info.compactMap { $0["transaction_id"] as? String }
        )
    }

    /// The state of an answer, when it has come.
    private final class Reply: Sendable {
        private let content = Mutex<String?>(nil)

        var state: String? { content.withLock { $0 } }

        func note(_ state: String?) { content.withLock { $0 = state ?? "none" } }
    }

    @Test(
        "30.2 A receipt of which nothing is known is answered with what the App Store signs, and later with its history"
    )
    func asked() async throws {
        try await ServerAPIClaimWorld.run(
            dropIn: Self.asking(within: 1), uptime: { 0 }, answer: Self.answer
        ) { world async throws in
            let first = try await Self.ask(world)
            #expect(first.state == "live")
            #expect(first.info.first == "2000000000000003" && first.info.last == Self.original)
            try await world.wait("the periods between were not read") {
                try await Self.ask(world).info == ["2000000000000003", "2000000000000002", Self.original]
            }
            // The history is followed by the statuses, once.
            #expect(world.requests(Self.statuses).count <= 2)
        }
    }

    @Test("30.2 The App Store is not asked where the settings do not say so")
    func notAsked() async throws {
        try await ServerAPIClaimWorld.run(
            dropIn: Self.asking(within: nil), uptime: { 0 }, answer: Self.answer
        ) { world async throws in
            let reply = try await Self.ask(world)
            #expect(reply.state == "as-of-signing" && reply.info == [Self.original])
            #expect(world.requests(Self.statuses).isEmpty)
        }
    }

    @Test("30.2 An answer waits for the App Store as long as the settings say; what comes later is in the next one")
    func budget() async throws {
        let uptime = Mutex(0.0)
        let isOpen = Mutex(false)
        try await ServerAPIClaimWorld.run(
            dropIn: Self.asking(within: 1), uptime: { uptime.withLock { $0 } },
            answer: { request in
                while request.head.uri.contains("subscriptions"), !isOpen.withLock({ $0 }) {
                    try await Task.sleep(for: .milliseconds(10))
                }
                return try Self.answer(request)
            }
        ) { world async throws in
            let reply = Reply()
            let question = Task { reply.note(try await Self.ask(world).state) }
            try await world.wait("the App Store was not asked") { !world.requests(Self.statuses).isEmpty }
            uptime.withLock { $0 += 0.9 }
            try await Task.sleep(for: .milliseconds(150))
            #expect(reply.state == nil, "the answer does not wait as long as the settings say")
            // The store still holds its answer.
            try await world.wait("the answer waits longer than the settings say") {
                uptime.withLock { $0 += 0.2 }
                return reply.state != nil
            }
            try await question.value
            #expect(reply.state == "as-of-signing")
            isOpen.withLock { $0 = true }
            try await world.wait("what came later is not in an answer") { try await Self.ask(world).state == "live" }
        }
    }

    @Test("30.2 A subscription that the App Store does not know is asked about again only after an interval")
    func unknown() async throws {
        let uptime = Mutex(0.0)
        try await ServerAPIClaimWorld.run(
            dropIn: Self.asking(within: 1), uptime: { uptime.withLock { $0 } },
            answer: { request in
                request.head.uri.contains("subscriptions") ? .error(4_040_010) : try Self.answer(request)
            }
        ) { world async throws in
            for _ in 0..<3 { #expect(try await Self.ask(world).state == "as-of-signing") }
            #expect(world.requests(Self.statuses).count == 1)
            uptime.withLock { $0 += 301 }
            #expect(try await Self.ask(world).state == "as-of-signing")
            #expect(world.requests(Self.statuses).count == 2)
        }
    }
}
