import Crypto
import EvidenceMint
import Foundation
import HTTPTypes
import Logging
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// `POST /notifications/v2`: the door for Apple's news.
@Suite("Notifications over HTTP")
struct NotificationRouteTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    private static func send(
        _ world: PurchaseServerWorld, _ payload: [UInt8], to path: String = "/notifications/v2"
    ) async throws -> PurchaseServerWorld.Answer {
        try await world.send(
            .post, path, NotificationRequest(signedPayload: String(decoding: payload, as: UTF8.self)), as: nil,
            idempotencyKey: nil)
    }

    @Test("28.1 A genuine notification is answered 200 after its effect, a repeated one too, without a key", .server)
    func genuine() async throws {
        let bought = try PurchaseServerWorld.signed("1")
        #expect(try await world.send(.post, "/v1/purchases", bought.claim()).status == 200)
        var refunded = SignedTransactionTemplate()
        _ = try PurchaseServerWorld.signed("1") {
            $0.refund(at: MintedWorld.moment.addingTimeInterval(50))
            refunded = $0
        }
        let payload = try MintedWorld.mint(NotificationTemplate(notificationType: "REFUND", transaction: refunded))
        let first = try await Self.send(world, payload)
        #expect(first.status == 200)
        let answer = try first.message(NotificationAnswer.self)
        #expect(!answer.repeated)
        #expect(try await world.entitlements(of: "alice").first?.balance == 0)
        for path in ["/notifications/v2", "/notifications/v2/example"] {
            let again = try await Self.send(world, payload, to: path).message(NotificationAnswer.self)
            #expect(again.repeated && again.entryID == answer.entryID)
        }
        let page = try await world.send(.get, "/v1/notifications?customer_id=alice&type=REFUND", as: .backend)
            .message(NotificationPage.self)
        #expect(page.notifications.map(\.transactionID) == ["1"] && page.notifications.first?.customerID == "alice")
    }

    @Test(
        "28.1 What is forged is refused with 400, what a change of Apple's certificates can explain with 503, another app's with 404",
        arguments: SignedPayloadFault.allCases)
    func faults(_ fault: SignedPayloadFault) async throws {
        try await PurchaseServerWorld.run { world async throws in
            let payload: [UInt8]
            do {
                payload = try MintedWorld.mint(MintedWorld.notification(), fault: fault)
            } catch {
                // A notification may have no date.
                #expect(fault == .missingSignedDate, "\(error)")
                return
            }
            let answer = try await Self.send(world, payload)
            #expect([400, 413, 503].contains(answer.status), "\(fault): \(answer.text)")
            if answer.status == 503 { #expect(answer.headers[.retryAfter] != nil) }
            // Whatever is not genuine leaves no trace.
            let page = try await world.send(.get, "/v1/notifications", as: .backend).message(NotificationPage.self)
            #expect(page.notifications.isEmpty)
            switch fault {
            case .algNone, .algES384, .algRS256, .hs256WithPublicKey, .wrongRoot, .forgedNestedData:
                #expect(answer.status == 503, "\(fault): \(answer.text)")
            case .ownLeaf, .foreignSignature, .flippedSignatureByte, .reusedSignature, .zeroSignature,
                .flippedPayloadByte,
                .editedClaims, .developerCertificate, .missingLeafMarker, .expiredChain, .notAnAuthority:
                #expect(answer.status == 400, "\(fault): \(answer.text)")
            default: break
            }
        }
    }

    @Test("28.1 Bodies that are no notification, and notifications of apps that nobody has", .server)
    func wrongBodies() async throws {
        for body in [
            "", "[]", "{}", #"{"signedPayload":5}"#, #"{"signedPayload":""}"#, "null", "{\"signedPayload\"",
        ] {
            let answer = try await world.send(
                .post, "/notifications/v2", data: Data(body.utf8), as: nil, idempotencyKey: nil)
            #expect(answer.status == 400, "\(body)")
        }
        let transaction = try MintedWorld.mint(MintedWorld.transaction())
        #expect(try await Self.send(world, transaction).status == 400)
        let other = NotificationTemplate.test(
            bundleID: "com.example.other", environment: "Sandbox", signedDate: MintedWorld.moment)
        #expect(try await Self.send(world, try MintedWorld.mint(other)).status == 404)
        let own = try MintedWorld.mint(MintedWorld.testNotification())
        #expect(try await Self.send(world, own, to: "/notifications/v2/another").status == 404)
        #expect(try await Self.send(world, own).status == 200)
        let large = try await world.send(
            .post, "/notifications/v2", data: Data(repeating: 0x20, count: 385 << 10), as: nil, idempotencyKey: nil)
        #expect(large.status == 413)
        #expect(try await world.send(.get, "/notifications/v2", as: nil, idempotencyKey: nil).status == 405)
    }

    @Test("28.1 Headers that were not verified before get a tenth of one core, and known ones are not affected")
    func lanes() async throws {
        let uptime = TestUptime()
        try await PurchaseServerWorld.run(uptime: uptime) { world async throws in
            let genuine = try MintedWorld.mint(MintedWorld.testNotification())
            #expect(try await Self.send(world, genuine).status == 200)
            // The time of the server stands still, so nothing is given back.
            let forged = try MintedWorld.mint(MintedWorld.notification(), fault: .ownLeaf)
            var statuses: [Int] = []
            for _ in 1...400 { statuses.append(try await Self.send(world, forged).status) }
            let last = try await Self.send(world, forged)
            #expect(try last.problem == "server_busy" && last.status == 503)
            #expect(Set(statuses) == [400, 503], "forged, and busy")
            #expect(try await Self.send(world, genuine).status == 200)
        }
    }

    @Test(
        "28.1 Refused notifications are counted in the log: the first with a code has a line, the others one line with their number"
    )
    func counted() async throws {
        let (uptime, log) = (TestUptime(), RecordingLog())
        let begin = ContinuousClock.now
        try await PurchaseServerWorld.run(uptime: uptime, logger: log.logger(.info)) { world async throws in
            // Of an app that nobody has, of another app by its path, and of an environment that is not accepted.
            for bundle in ["com.example.other", "com.example.third"] {
                let other = NotificationTemplate.test(
                    bundleID: bundle, environment: "Sandbox", signedDate: MintedWorld.moment)
                #expect(try await Self.send(world, try MintedWorld.mint(other)).status == 404)
            }
            let own = try MintedWorld.mint(MintedWorld.testNotification())
            #expect(try await Self.send(world, own, to: "/notifications/v2/another").status == 404)
            let forged = try MintedWorld.mint(MintedWorld.notification(), fault: .flippedSignatureByte)
            for _ in 1...5 { #expect(try await Self.send(world, forged).status == 400) }
            // The time of the server stands still, so the second lane is used up.
            let unknown = try MintedWorld.mint(MintedWorld.notification(), fault: .wrongRoot)
            var busy = 0
            for _ in 1...400 {
                busy += try await Self.send(world, unknown).problem == "server_busy" ? 1 : 0
            }
            #expect(busy > 1)
            #expect(try await Self.send(world, own).status == 200)
        }
        // The server has stopped. On a busy machine that took minutes.
        let minutes = Int((ContinuousClock.now - begin) / .seconds(60)) + 1
        let lines = log.requests.map { "\($0.facts["code"] ?? "none") \($0.facts["status"] ?? "")" }
        var codes: [String] = []
        for line in lines where !codes.contains(line) { codes.append(line) }
        #expect(
            codes == [
                "app_unknown 404", "signature_invalid 400", "issuer_unknown 503", "server_busy 503",
                "none 200",
            ])
        for code in codes { #expect(lines.count { $0 == code } <= minutes, "\(code)") }
        let counts = log.lines.filter { $0.message == "more notifications were refused" }
        for line in counts {
            #expect(line.level == (line.facts["status"] == "503" ? .warning : .info), "\(line)")
            #expect(codes.contains("\(line.facts["code"] ?? "") \(line.facts["status"] ?? "")"), "\(line)")
        }
        // The first with a code in a minute has a line of its own, and the others are in the numbers.
        func total(_ named: [String]) -> Int {
            let own = lines.count { line in named.contains { line.hasPrefix("\($0) ") } }
            return counts.filter { named.contains($0.facts["code"] ?? "") }
                .compactMap { $0.facts["notifications"].flatMap { Int($0) } }.reduce(own, +)
        }
        #expect(total(["app_unknown"]) == 3 && total(["signature_invalid"]) == 5)
        #expect(total(["issuer_unknown", "server_busy"]) == 400)
    }

    @Test(
        "28.1 No limit of an address applies, since it could hit Apple",
        .server { $0.limits.perAddress = RateLimit(perSecond: 0.001, burst: 2) })
    func addressLimit() async throws {
        let genuine = try MintedWorld.mint(MintedWorld.testNotification())
        let forged = try MintedWorld.mint(MintedWorld.notification(), fault: .flippedSignatureByte)
        for _ in 1...10 {
            #expect(try await Self.send(world, genuine).status == 200)
            #expect(try await Self.send(world, forged).status == 400)
        }
    }

    @Test(
        "28.1 While the database stands still, the answer is 503 with Retry-After, and the next delivery is kept",
        .server { $0.limits.answerSeconds = 0.5 })
    func stalled() async throws {
        let genuine = try MintedWorld.mint(MintedWorld.testNotification())
        let answer = try await HeldWrite.during(world.ledger) { try await Self.send(world, genuine) }
        #expect(answer.status == 503 && answer.headers[.retryAfter] != nil, "\(answer.text)")
        // A busy machine can need more than the time for an answer once more.
        func answered(
            _ ask: () async throws -> PurchaseServerWorld.Answer
        ) async throws -> PurchaseServerWorld.Answer {
            for _ in 1...100 {
                let answer = try await ask()
                guard answer.status == 503 else { return answer }
            }
            return try await ask()
        }
        #expect(try await answered { try await Self.send(world, genuine) }.status == 200)
        let listed = try await answered { try await world.send(.get, "/v1/notifications", as: .backend) }
        #expect(try listed.message(NotificationPage.self).notifications.count == 1)
    }

    @Test("28 Unknown fields of 200 kB are kept without effect, and a body of more than 384 KiB gets 413", .server)
    func unknownFields() async throws {
        for (bytes, status) in [(1000, 200), (200_000, 200), (300_000, 413)] {
            var strange = MintedWorld.testNotification()
            strange.notificationUUID = UUID().uuidString
            strange.extra = (0..<100).map { number in
                Claim("novelty\(number)", .string(String(repeating: "x", count: bytes / 100)))
            }
            let answer = try await Self.send(world, try MintedWorld.mint(strange))
            #expect(answer.status == status, "\(bytes): \(answer.text.prefix(200))")
        }
        let page = try await world.send(.get, "/v1/notifications", as: .backend).message(NotificationPage.self)
        #expect(page.notifications.count == 2)
    }

    @Test("28.1 In production the Apple id names the app, too", .server { $0.apps["example"]?.appleID = 1_234_567_890 })
    func appleID() async throws {
        var template = MintedWorld.testNotification(environment: "Production")
        for (id, status) in [(1_234_567_890, 200), (1_234_567_891, 404), (nil, 404)] as [(Int64?, Int)] {
            template.data?.appAppleID = id
            template.notificationUUID = UUID().uuidString
            #expect(try await Self.send(world, try MintedWorld.mint(template)).status == status)
        }
        // Apple does not document an Apple id of seats whose claims end.
        for (id, status) in [(nil, 200), (1_234_567_890, 200), (1_234_567_891, 404)] as [(Int64?, Int)] {
            var seats = NotificationTemplate()
            (seats.notificationType, seats.notificationUUID) = ("UNCLAIM_SEATS", UUID().uuidString)
            seats.signedDate = MintedWorld.moment
            var info = [
                Claim("bundleId", .string("com.example.app")), Claim("environment", .string("Production")),
                Claim("unclaimSeatIds", .array([.string("a seat")])),
            ]
            if let id { info.append(Claim("appAppleId", .integer(id))) }
            seats.extra = [Claim("unclaimInfo", .object(info))]
            #expect(try await Self.send(world, try MintedWorld.mint(seats)).status == status, "\(id ?? 0)")
        }
    }

    @Test("28.1 Unknown issuers ring once an hour, and only if no genuine notification came for an hour")
    func alarm() async throws {
        let (uptime, log) = (TestUptime(), RecordingLog())
        // The minted authority is not Apple's.
        try await PurchaseServerWorld.run(uptime: uptime, logger: log.logger(.error)) { configuration in
            configuration.anchors = TrustAnchor.apple
        } _: { world async throws in
            func rings() -> Int {
                log.lines.count { $0.message.hasPrefix("notifications come from an unknown issuer") }
            }
            func send() async throws -> PurchaseServerWorld.Answer {
                try await Self.send(world, try MintedWorld.mint(MintedWorld.testNotification()))
            }
            let answer = try await send()
            #expect(try answer.status == 503 && answer.problem == "issuer_unknown")
            #expect(rings() == 0)
            uptime.advance(seconds: 3600)
            _ = try await send()
            #expect(rings() == 1)
            uptime.advance(seconds: 3000)
            _ = try await send()
            #expect(rings() == 1)
            uptime.advance(seconds: 600)
            _ = try await send()
            #expect(rings() == 2)
            let facts = try #require(log.lines.last).facts
            // The fingerprint that an authority publishes.
            let root = try #require(try MintedWorld.trustedCertificates().dropFirst().first)
            #expect(facts["root_sha256"] == Array(SHA256.hash(data: root)).hexadecimal)
            #expect(facts["issuer"]?.isEmpty == false)
        }
    }

    @Test("28.1 Only the first delivery of a genuine notification of an own app keeps the alarm silent")
    func silence() async throws {
        let (uptime, log) = (TestUptime(), RecordingLog())
        try await PurchaseServerWorld.run(uptime: uptime, logger: log.logger(.error)) { world async throws in
            func rings() -> Int {
                log.lines.count { $0.message.hasPrefix("notifications come from an unknown issuer") }
            }
            let own = try MintedWorld.mint(MintedWorld.testNotification())
            let foreign = try MintedWorld.mint(
                NotificationTemplate.test(
                    bundleID: "com.example.other", environment: "Sandbox", signedDate: MintedWorld.moment))
            let unknown = try MintedWorld.mint(MintedWorld.notification(), fault: .wrongRoot)
            uptime.advance(seconds: 3000)
            #expect(try await Self.send(world, own).status == 200)
            uptime.advance(seconds: 3000)
            #expect(try await Self.send(world, unknown).status == 503)
            #expect(rings() == 0)
            // One that was received before, and one of an app that nobody has.
            #expect(try await Self.send(world, own).message(NotificationAnswer.self).repeated)
            #expect(try await Self.send(world, own, to: "/notifications/v2/another").status == 404)
            #expect(try await Self.send(world, foreign).status == 404)
            uptime.advance(seconds: 600)
            #expect(try await Self.send(world, unknown).status == 503)
            #expect(rings() == 1)
        }
    }

    @Test("28.1 If only a part of a notification has an unknown issuer, the alarm names the root of that part")
    func rootOfPart() async throws {
        let (uptime, log) = (TestUptime(), RecordingLog())
        try await PurchaseServerWorld.run(uptime: uptime, logger: log.logger(.error)) { world async throws in
            uptime.advance(seconds: 3600)
            let forged = try MintedWorld.mint(MintedWorld.notification(), fault: .forgedNestedData)
            #expect(try await Self.send(world, forged).problem == "issuer_unknown")
            let facts = try #require(log.lines.last { $0.facts["root_sha256"] != nil }).facts
            let known = try MintedWorld.trustedCertificates().map { Array(SHA256.hash(data: $0)).hexadecimal }
            let root = try #require(facts["root_sha256"])
            #expect(root.count == 64 && !known.contains(root))
        }
    }

    @Test("28.2 Seats that are not a list of texts get 503, so that the notification is delivered again", .server)
    func malformedSeats() async throws {
        let values: [(ClaimValue, Int)] = [
            (.string("a"), 503), (.array([.integer(1)]), 503), (.object([]), 503), (.array([]), 200),
            (.array([.string("a")]), 200),
        ]
        for (value, status) in values {
            var template = NotificationTemplate()
            template.notificationType = "UNCLAIM_SEATS"
            template.notificationUUID = UUID().uuidString
            template.signedDate = MintedWorld.moment
            template.extra = [
                Claim(
                    "unclaimInfo",
                    .object([
                        Claim("bundleId", .string("com.example.app")), Claim("environment", .string("Sandbox")),
                        Claim("unclaimSeatIds", value),
                    ]))
            ]
            let answer = try await Self.send(world, try MintedWorld.mint(template))
            #expect(answer.status == status, "\(value): \(answer.text)")
            if status == 503 { #expect(try answer.problem == "claims_malformed") }
        }
    }
}
