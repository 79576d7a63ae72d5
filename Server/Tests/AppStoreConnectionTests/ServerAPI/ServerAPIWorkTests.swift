import AppStoreConnection
import EvidenceMint
import Foundation
import NIOHTTP1
import PurchaseLedger
import PurchaseVerification
import Synchronization
import Testing

@Suite("Work with the App Store Server API that the server does by itself", .serialized)
struct ServerAPIWorkTests {
    private static let id = "2000000000000001"

    /// A notification of a purchase.
    private static func notification(_ number: Int) throws -> String {
        var transaction = SignedTransactionTemplate()
        let id = "\(3_000_000_000_000_000 + number)"
        (transaction.transactionID, transaction.originalTransactionID) = (id, id)
        (transaction.bundleID, transaction.productID) = (ServerAPIWorld.bundleID, "gold")
        transaction.type = .autoRenewableSubscription
        transaction.purchaseDate = ServerAPIWorld.moment.addingTimeInterval(-60)
        transaction.expiresDate = ServerAPIWorld.moment.addingTimeInterval(30 * 86_400)
        transaction.environment = "Production"
        transaction.signedDate = ServerAPIWorld.moment
        var data = NotificationTemplate.Data()
        (data.bundleID, data.environment, data.transaction) = (ServerAPIWorld.bundleID, "Production", transaction)
        var template = NotificationTemplate()
        (template.notificationType, template.subtype) = ("SUBSCRIBED", "INITIAL_BUY")
        template.notificationUUID = "00000000-0000-4000-8000-\(String(format: "%012d", number))"
        template.signedDate = ServerAPIWorld.moment
        template.data = data
        return try SignedPayloadEncoder(authority: ConnectionWorld.authority.get()).encode(template)
    }

    /// What a backfill records.
    private struct Progress: Decodable {
        let seen: Int64?
    }

    private static let sent = Result { try (0..<45).map(notification) }

    /// A page of the notifications, as Apple gives it: all were sent at one moment.
    private static func page(_ request: RecordingServer.Request) throws -> RecordingServer.Reply {
        let (period, moment) = (try period(request), Int64(ServerAPIWorld.moment.timeIntervalSince1970) * 1000)
        guard (period.from..<period.to).contains(moment) else {
            return .json(#"{"notificationHistory":[],"hasMore":false}"#)
        }
        let token = request.head.uri.split(separator: "=").dropFirst().first.flatMap { Int($0) } ?? 0
        let sent = try sent.get()
        let payloads = sent[token..<min(token + 20, sent.count)].map {
            #"{"signedPayload":"\#($0)","sendAttempts":[]}"#
        }
        let rest = token + 20 < sent.count ? #""hasMore":true,"paginationToken":"\#(token + 20)""# : #""hasMore":false"#
        return .json(#"{"notificationHistory":[\#(payloads.joined(separator: ","))],\#(rest)}"#)
    }

    private static func isHistory(_ request: RecordingServer.Request) -> Bool {
        request.head.uri.hasPrefix("/p/inApps/v1/notifications/history")
    }

    private static func period(_ request: RecordingServer.Request) throws -> (from: Int64, to: Int64) {
        struct Body: Decodable {
            let startDate, endDate: Int64
        }
        let body = try JSONDecoder().decode(Body.self, from: Data(request.body.utf8))
        return (body.startDate, body.endDate)
    }

    /// The period that was read after a number of requests, which must be in windows of a day without a gap.
    private static func read(_ world: ServerAPIClaimWorld, after count: Int = 0) throws -> (from: Int64, to: Int64) {
        let windows = try world.store.requests.dropFirst(count).map(period)
        let (first, last) = (try #require(windows.first), try #require(windows.last))
        for (window, next) in zip(windows, windows.dropFirst()) {
            #expect(next == window || next.from == window.to, "C.4")
            #expect(window.to - window.from == 86_400_000 || window.to == last.to, "C.4")
        }
        #expect(last.to - last.from <= 86_400_000, "C.4")
        return (first.from, last.to)
    }

    @Test(
        "Notifications that did not arrive are read at the start, and each hour with an overlap, longer once a day; each counts once"
    )
    func backfill() async throws {
        try await ServerAPIClaimWorld.run(answer: Self.page) { world in
            try await world.wait("no backfill ended") {
                try await world.task(.notifications, ServerAPIWorld.bundleID)?.progress?.contains("seen") ?? false
            }
            func received() async throws -> Int {
                try await world.ledger.answer(NotificationList(app: "game", limit: 500)).entries.count
            }
            #expect(try await received() == 45)
            let first = try Self.read(world)
            #expect(first.to == world.clock.now.millisecondsSince1970)
            #expect(first.to - first.from == 180 * 86_400_000 - 3_600_000)
            #expect(world.store.requests.count == 182, "one page of each day, three of the last")
            let entries = try await world.ledger.answer(SubmissionList(app: "game", limit: 500)).entries.count
            world.clock.advance(seconds: 3601)
            try await world.wait("the second backfill did not end") {
                try await world.task(.notifications, ServerAPIWorld.bundleID)?.progress?
                    .contains("\"seen\":\(first.to + 3_601_000)") ?? false
            }
            #expect(try Self.read(world, after: 182).from == first.to - 3_600_000)
            let second = world.store.requests.count
            #expect(try await received() == 45)
            #expect(try await world.ledger.answer(SubmissionList(app: "game", limit: 500)).entries.count == entries)
            // Once a day two days are read again: nothing shows that a list is old or leaves something out.
            world.clock.advance(seconds: 86_400)
            try await world.wait("the third backfill did not end") {
                try await world.task(.notifications, ServerAPIWorld.bundleID)?.progress?
                    .contains("\"seen\":\(first.to + 90_001_000)") ?? false
            }
            #expect(try Self.read(world, after: second).from == first.to + 3_601_000 - 2 * 86_400_000)
            let third = world.store.requests.count
            world.clock.advance(seconds: 3601)
            try await world.wait("there was no fourth backfill") { world.store.requests.count > third }
            #expect(try Self.period(world.store.requests[third]).from == first.to + 90_001_000 - 3_600_000)
        }
    }

    @Test("What Apple signed in a form that this version cannot read is read again each day, for a later version")
    func newForm() async throws {
        let new = try SignedPayloadEncoder(authority: ConnectionWorld.authority.get()).encode(NewForm())
        let reply = #"{"notificationHistory":[{"signedPayload":"\#(new)","sendAttempts":[]}],"hasMore":false}"#
        try await ServerAPIClaimWorld.run(answer: { _ in .json(reply) }) { world in
            func seen(_ time: Int64) async throws {
                try await world.wait("the backfill did not end") {
                    try await world.task(.notifications, ServerAPIWorld.bundleID)?.progress?
                        .contains("\"seen\":\(time)") ?? false
                }
            }
            let start = world.clock.now.millisecondsSince1970
            try await seen(start)
            let reach = start - (try Self.read(world).from)
            let first = world.store.requests.count
            world.clock.advance(seconds: 3601)
            try await seen(start + 3_601_000)
            #expect(try Self.read(world, after: first).from == start - 3_600_000)
            let second = world.store.requests.count
            world.clock.advance(seconds: 86_400)
            try await seen(start + 90_001_000)
            #expect(try Self.read(world, after: second).from == start + 90_001_000 - reach)
        }
    }

    @Test("A week without Apple leaves no gap: the period that could not be read is read as a whole")
    func outage() async throws {
        let isUp = Mutex(true)
        try await ServerAPIClaimWorld.run(answer: { request in
            isUp.withLock { $0 } ? try Self.page(request) : .json("", status: .badGateway)
        }) { world in
            let subject = ServerAPIWorld.bundleID
            try await world.wait("no backfill ended") {
                try await world.task(.notifications, subject)?.progress?.contains("seen") ?? false
            }
            let seen = try Self.read(world).to
            isUp.withLock { $0 = false }
            let before = world.store.requests.count
            for _ in 0..<(7 * 24) {
                world.clock.advance(seconds: 3600)
                world.connectionClock.advance(.seconds(3600))
                try await Task.sleep(for: .milliseconds(5))
            }
            let during = world.store.requests.count - before
            #expect(try world.store.requests.dropFirst(before).map(Self.period).last?.from == seen - 2 * 86_400_000)
            let readable = world.store.requests.count
            isUp.withLock { $0 = true }
            // A reading ends when it began, and the clock is fast: a second one may be due.
            let end = seen + 6 * 86_400_000
            try await world.wait("the period was not read") {
                world.clock.advance(seconds: 60)
                world.connectionClock.advance(.seconds(60))
                let progress = try await world.task(.notifications, subject)?.progress ?? "{}"
                return try JSONDecoder().decode(Progress.self, from: Data(progress.utf8)).seen.map { $0 >= end }
                    ?? false
            }
            var answered = seen
            for period in try world.store.requests.dropFirst(readable - 1).map(Self.period) where period.to > answered {
                #expect(period.from <= answered)
                answered = period.to
            }
            #expect(answered >= end)
            // One probe and its repetitions at a time, not one call for each hour and each page.
            #expect(during < 7 * 24 * 5)
        }
    }

    @Test("A page token that expired begins the period again, and nothing counts twice")
    func expiredToken() async throws {
        let isExpired = Mutex(true)
        try await ServerAPIClaimWorld.run(answer: { request in
            if request.head.uri.contains("paginationToken=40"),
                isExpired.withLock({ was in
                    defer { was = false }
                    return was
                })
            {
                return .error(4_000_017)
            }
            return try Self.page(request)
        }) { world in
            try await world.wait("no backfill ended") {
                try await world.task(.notifications, ServerAPIWorld.bundleID)?.progress?.contains("seen") ?? false
            }
            let notifications = try await world.ledger.answer(NotificationList(app: "game", limit: 500)).entries
            #expect(notifications.count == 45)
            #expect(world.store.requests.count == 179 + 6)
        }
    }

    @Test("The status of a subscription is asked for once when its period has ended without news, and is observed")
    func status() async throws {
        let end = ServerAPIWorld.moment.addingTimeInterval(86_400)
        let clock = LedgerClock()
        try await ServerAPIClaimWorld.run(
            clock: clock,
            answer: { request in
                guard request.head.uri == "/p/inApps/v1/subscriptions/\(Self.id)" else {
                    return .json(#"{"notificationHistory":[],"hasMore":false}"#)
                }
                let now = clock.now.date
                var template = SignedTransactionTemplate()
                (template.transactionID, template.originalTransactionID) = ("2000000000000002", Self.id)
                (template.bundleID, template.productID, template.type) = (
                    ServerAPIWorld.bundleID, "gold", .autoRenewableSubscription
                )
                template.purchaseDate = end
                template.originalPurchaseDate = ServerAPIWorld.moment.addingTimeInterval(-86_400)
                template.expiresDate = end.addingTimeInterval(2 * 86_400)
                (template.environment, template.signedDate) = ("Production", now)
                let text = try SignedPayloadEncoder(authority: ConnectionWorld.authority.get()).encode(template)
                let renewal = try SignedAnswer.renewalInfo(of: Self.id, signedAt: now)
                return .json(
                    """
                    {"data":[{"lastTransactions":[{"status":1,"originalTransactionId":"\(Self.id)",
                    "signedTransactionInfo":"\(text)","signedRenewalInfo":"\(renewal)"}]}]}
                    """)
            }
        ) { world in
            let line = "GET /p/inApps/v1/subscriptions/"
            #expect(try await world.claim(SignedAnswer.transaction()).status == 200)
            #expect(world.requests(line).count == 0)
            clock.advance(seconds: 86_400)
            try await Task.sleep(for: .milliseconds(200))
            #expect(world.requests(line).count == 0, "before five minutes have passed, news may still come")
            clock.advance(seconds: 301)
            try await world.wait("the status was not asked for") { world.requests(line).count == 1 }
            try await world.wait("the renewal was not observed") { try await world.state() == "active" }
            // Until its work has ended it is leased for two minutes, and an hour later another would do it again.
            try await world.wait("the work did not end") {
                guard let next = try await world.task(.status, Self.id)?.nextAt else { return true }
                return next.date.timeIntervalSince(clock.now.date) > 3600
            }
            clock.advance(seconds: 3600)
            try await Task.sleep(for: .milliseconds(200))
            #expect(world.requests(line).count == 1)
        }
    }

    @Test(
        "The end of a grace period that was signed without one is asked for once; an answer without it ends no access")
    func graceWithoutEnd() async throws {
        let clock = LedgerClock()
        let encoder = try SignedPayloadEncoder(authority: ConnectionWorld.authority.get())
        @Sendable func failed() -> RenewalInfoTemplate {
            var info = RenewalInfoTemplate()
            (info.originalTransactionID, info.productID, info.autoRenewProductID) = (Self.id, "gold", "gold")
            (info.autoRenewStatus, info.isInBillingRetryPeriod) = (1, true)
            (info.environment, info.signedDate) = ("Production", clock.now.date)
            return info
        }
        try await ServerAPIClaimWorld.run(
            clock: clock,
            answer: { request in
                guard request.head.uri == "/p/inApps/v1/subscriptions/\(Self.id)" else {
                    return .json(#"{"notificationHistory":[],"hasMore":false}"#)
                }
                return .json(
                    """
                    {"data":[{"lastTransactions":[{"status":4,"originalTransactionId":"\(Self.id)",
                    "signedTransactionInfo":"\(try SignedAnswer.transaction(signedAt: clock.now.date))",
                    "signedRenewalInfo":"\(try encoder.encode(failed()))"}]}]}
                    """)
            }
        ) { world in
            @Sendable func notify(_ number: Int) async throws {
                var data = NotificationTemplate.Data()
                (data.bundleID, data.environment, data.status) = (ServerAPIWorld.bundleID, "Production", 4)
                data.renewalInfo = failed()
                var template = NotificationTemplate()
                (template.notificationType, template.subtype) = ("DID_FAIL_TO_RENEW", "GRACE_PERIOD")
                template.notificationUUID = "00000000-0000-4000-8000-00000000000\(number)"
                (template.signedDate, template.data) = (clock.now.date, data)
                let outcome = try await world.ledger.observe(
                    EvidenceSubmission(app: "game", source: "test", evidence: Array(try encoder.encode(template).utf8)))
                #expect(outcome.code == "accepted")
            }
            let line = "GET /p/inApps/v1/subscriptions/"
            #expect(try await world.claim(SignedAnswer.transaction()).status == 200)
            clock.advance(seconds: 86_400 + 3600)
            try await world.wait("the status was not asked for") { world.requests(line).count == 1 }
            try await world.wait("the work did not end") { try await world.task(.status, Self.id)?.nextAt == nil }
            #expect(try await world.state() == "expired", "an unsigned status grants nothing")
            try await notify(1)
            #expect(try await world.state() == "active")
            try await world.wait("the end was not asked for") { world.requests(line).count == 2 }
            try await world.wait("the work did not end") { try await world.task(.status, Self.id)?.nextAt == nil }
            #expect(try await world.state() == "active")
            clock.advance(seconds: 60)
            try await notify(2)
            #expect(try await world.task(.status, Self.id)?.nextAt == nil, "the question was asked before")
            #expect(try await world.state() == "active")
        }
    }

    @Test("Apple gets the token of the owner of a purchase without one, and the new owner's after a transfer")
    func tokens() async throws {
        try await ServerAPIClaimWorld.run(
            setsTokens: true,
            answer: { request in
                request.head.method == .PUT ? .json("") : .json(#"{"notificationHistory":[],"hasMore":false}"#)
            }
        ) { world in
            let line = "PUT /p/inApps/v1/transactions/\(Self.id)/appAccountToken"
            let token = UUID()
            _ = try await world.ledger.perform(AssignToken(app: "game", customerID: "ada", token: token))
            #expect(try await world.claim(SignedAnswer.transaction()).status == 200)
            try await world.wait("no token was set") { world.requests(line).count == 1 }
            #expect(world.requests(line)[0].body == #"{"appAccountToken":"\#(token.uuidString.lowercased())"}"#)
            _ = try await world.ledger.perform(
                MovePurchase(app: "game", transactionID: Self.id, to: "grace", reason: "a test"))
            try await world.wait("the new owner's token was not set") { world.requests(line).count == 2 }
            #expect(!world.requests(line)[1].body.contains(token.uuidString.lowercased()))
            try await world.wait("the second token was not recorded") {
                try await world.task(.token, Self.id)?.nextAt == nil
            }
        }
    }

    @Test("The token is not set for an app that does not ask for it, nor for a purchase that has one")
    func noToken() async throws {
        try await ServerAPIClaimWorld.run(answer: { _ in .json(#"{"notificationHistory":[],"hasMore":false}"#) }) {
            world async throws in
            #expect(try await world.claim(SignedAnswer.transaction()).status == 200)
            #expect(try await world.task(.token, Self.id) == nil)
            #expect(try await world.task(.status, Self.id) != nil)
        }
    }
}

/// Claims of no known form, signed by the App Store.
private struct NewForm: SignedPayloadTemplate {
    static var signingDateClaim: String { "signedDate" }
    var signingDate: Date? { ServerAPIWorld.moment }
    var dateStyle = ClaimDateStyle.wholeMilliseconds
    var extra: [Claim] = []

    func claims(signing _: (any SignedPayloadTemplate) throws -> String) rethrows -> [Claim] {
        [Claim("signedDate", .integer(Int64(ServerAPIWorld.moment.timeIntervalSince1970) * 1000))] + extra
    }
}
