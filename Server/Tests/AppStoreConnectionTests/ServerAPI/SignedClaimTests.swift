import AppStoreConnection
import EvidenceMint
import Foundation
import NIOHTTP1
import PurchaseLedger
import PurchaseVerification
import Synchronization
import Testing

@Suite("Claims of signed transactions that the App Store is asked about", .serialized)
struct SignedClaimTests {
    private static let id = "2000000000000001"
    private static let question = "GET /p/inApps/v1/transactions/\(id)"

    private static func isQuestion(_ request: RecordingServer.Request) -> Bool {
        request.head.uri == "/p/inApps/v1/transactions/\(id)"
    }

    private static let noNotifications = RecordingServer.Reply.json(#"{"notificationHistory":[],"hasMore":false}"#)

    @Test("With mode apple, Apple is asked once before the first grant, and its answer is observed")
    func asked() async throws {
        try await ServerAPIClaimWorld.run(
            .apple,
            answer: { request in
                guard Self.isQuestion(request) else { return Self.noNotifications }
                return try .json(#"{"signedTransactionInfo":"\#(SignedAnswer.transaction())"}"#)
            }
        ) { world in
            let evidence = try SignedAnswer.transaction(
                signedAt: ServerAPIWorld.moment.addingTimeInterval(-86_400))
            #expect(try await world.claim(evidence) == (200, "accepted"))
            #expect(try await world.state() == "active")
            #expect(world.requests(Self.question).count == 1)
            // The second claim is about a purchase with an owner, so Apple cannot say more.
            #expect(try await world.claim(evidence).status == 200)
            #expect(try await world.claim(evidence, by: "grace").code == "already_claimed")
            #expect(world.requests(Self.question).count == 1)
        }
    }

    @Test("A revocation in Apple's answer refuses the claim, although the evidence does not show it")
    func revoked() async throws {
        try await ServerAPIClaimWorld.run(
            .apple,
            answer: { request in
                guard Self.isQuestion(request) else { return Self.noNotifications }
                var template = SignedTransactionTemplate()
                (template.transactionID, template.originalTransactionID) = (Self.id, Self.id)
                (template.bundleID, template.productID) = (ServerAPIWorld.bundleID, "gold")
                template.type = .autoRenewableSubscription
                template.purchaseDate = ServerAPIWorld.moment.addingTimeInterval(-86_400)
                template.expiresDate = ServerAPIWorld.moment.addingTimeInterval(86_400)
                template.revocationDate = ServerAPIWorld.moment.addingTimeInterval(-60)
                template.revocationReason = 0
                template.environment = "Production"
                template.signedDate = ServerAPIWorld.moment
                let text = try SignedPayloadEncoder(authority: ConnectionWorld.authority.get()).encode(template)
                return .json(#"{"signedTransactionInfo":"\#(text)"}"#)
            }
        ) { world in
            let evidence = try SignedAnswer.transaction(
                signedAt: ServerAPIWorld.moment.addingTimeInterval(-86_400))
            #expect(try await world.claim(evidence).code == "purchase_withdrawn")
            #expect(try await world.state() != "active")
        }
    }

    @Test("A transaction that Apple does not know is refused, and the answer contradicts its own signature")
    func unknown() async throws {
        try await ServerAPIClaimWorld.run(
            .apple,
            answer: { request in
                Self.isQuestion(request) ? .error(4_040_010) : Self.noNotifications
            }
        ) { world in
            #expect(try await world.claim(SignedAnswer.transaction()) == (422, "app_store_refused"))
            #expect(try await world.state() == nil)
            let events = try await world.ledger.answer(EventList(app: "game", limit: 100))
            #expect(events.contains { $0.type == "contradicted" })
        }
    }

    @Test("A lying network grants nothing: the claim waits, and is granted once the truth comes")
    func lies() async throws {
        let lies: [@Sendable () throws -> RecordingServer.Reply] = [
            { try .json(#"{"signedTransactionInfo":"\#(SignedAnswer.transaction("7"))"}"#) },
            { try .json(#"{"signedTransactionInfo":"\#(SignedAnswer.transaction(bundleID: "com.example.other"))"}"#) },
            { try .json(#"{"signedTransactionInfo":"\#(SignedAnswer.transaction(authority: AppStoreAuthority()))"}"#) },
            {
                let old = ServerAPIWorld.moment.addingTimeInterval(-7200)
                return try .json(#"{"signedTransactionInfo":"\#(SignedAnswer.transaction(signedAt: old))"}"#)
            },
            { .json("{}") }, { .json("", status: .unauthorized) }, { .json("", status: .serviceUnavailable) },
        ]
        for lie in lies {
            let isTrue = Mutex(false)
            try await ServerAPIClaimWorld.run(
                .apple, answersWithin: .milliseconds(200),
                answer: { request in
                    guard Self.isQuestion(request) else { return Self.noNotifications }
                    guard isTrue.withLock({ $0 }) else { return try lie() }
                    return try .json(#"{"signedTransactionInfo":"\#(SignedAnswer.transaction())"}"#)
                }
            ) { world in
                let evidence = try SignedAnswer.transaction()
                let first = try await world.claim(evidence)
                #expect(first == (503, "app_store_pending"))
                try await world.wait("nothing was asked") { world.requests(Self.question).count > 0 }
                #expect(try await world.state() == nil)
                isTrue.withLock { $0 = true }
                try await world.wait("the claim still waits") {
                    world.clock.advance(seconds: 1)
                    world.connectionClock.advance(.seconds(60))
                    return try await world.ledger.answer(CountWork(.claim)).count == 0
                }
                #expect(try await world.state() == "active")
            }
        }
    }

    @Test("With mode both the purchase is granted at once, and Apple's refusal is told")
    func both() async throws {
        try await ServerAPIClaimWorld.run(
            .both,
            answer: { request in
                Self.isQuestion(request) ? .error(4_040_010) : Self.noNotifications
            }
        ) { world in
            #expect(try await world.claim(SignedAnswer.transaction()) == (200, "accepted"))
            try await world.wait("Apple was not asked") {
                try await world.ledger.answer(EventList(app: "game", limit: 100)).contains {
                    $0.type == "not_confirmed"
                }
            }
            #expect(try await world.state() == "active")
        }
    }

    @Test("The order number of a mail leads to its purchases, which are recorded")
    func orders() async throws {
        try await ServerAPIClaimWorld.run(answer: { request in
            switch request.head.uri {
            case "/p/inApps/v1/lookup/MK5X":
                try .json(#"{"status":0,"signedTransactions":["\#(SignedAnswer.transaction())"]}"#)
            case "/p/inApps/v1/lookup/NONE": .json(#"{"status":1}"#)
            case "/p/inApps/v1/lookup/BAD": .error(4_000_000)
            case "/p/inApps/v1/lookup/LIE":
                try .json(#"{"status":0,"signedTransactions":["\#(SignedAnswer.transaction(bundleID: "b"))"]}"#)
            default: Self.noNotifications
            }
        }) { world in
            let found = try await world.get("/v1/apple-orders/MK5X")
            #expect(found.status == 200 && found.body.contains(#""transaction_id":"\#(Self.id)""#), "\(found)")
            #expect(try await world.get("/v1/apple-orders/NONE").status == 404)
            #expect(try await world.get("/v1/apple-orders/BAD").status == 404)
            #expect(try await world.get("/v1/apple-orders/LIE").body.contains("app_store_unverified"))
            #expect(try await world.claim(SignedAnswer.transaction()).status == 200)
            #expect(try await world.get("/v1/apple-orders/MK5X").body.contains(#""customer_id":"ada""#))
        }
    }
}
