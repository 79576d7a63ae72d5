import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// The daily budget for refusals, over HTTP.
@Suite("The budget for refusals over HTTP")
struct RefusalBudgetTests {
    private static let forged = RestoreRequest(customerID: "alice", signedTransactions: ["e30.e30.A", "e30.e30.B"])

    @Test("B.3 A refusal beyond the budget has its code and disposition, no submission, and a warning that says so")
    func answers() async throws {
        try await PurchaseServerWorld.run {
            $0.apps["example"]?.unverifiedEvidence = EvidenceBudget(bytesPerAppAndDay: 1 << 20, bytesPerKeyAndDay: 0)
        } _: { world async throws in
            let claim = try await world.send(
                .post, "/v1/purchases",
                PurchaseRequest(
                    signedTransaction: "e30.e30.A", productID: "com.example.app.coins", transactionID: "1",
                    customerID: "alice"), as: .client)
            let document = try #require(try claim.document)
            #expect(claim.status == 422 && document.verdict == .rejected && document.replayed == false)
            #expect(document.disposition != nil && document.submissionID == nil && document.leafHash == nil)
            #expect(document.warnings?.map(\.code) == ["refusals_counted"] && document.warnings?.first?.found == "1")
            let restored = try await world.send(.post, "/v1/restores", Self.forged, as: .client)
            let answer = try restored.message(RestoreAnswer.self)
            #expect(answer.refused.map(\.index) == [0, 1] && answer.refused.allSatisfy { $0.submissionID == nil })
            #expect(answer.warnings?.map(\.code) == ["refusals_counted"] && answer.warnings?.first?.found == "2")
            // A restore with a flaw counts for the key that sent it, and so does a body that is no JSON.
            let flawed = try await world.send(
                .post, "/v1/restores", data: Data(#"{"signed_transactions":["e30.e30.C","e30.e30.D"]}"#.utf8),
                as: .client)
            #expect(try flawed.document?.code == "field_missing" && flawed.document?.warnings?.first?.found == "2")
            let broken = try await world.send(.post, "/v1/restores", data: Data("[".utf8), as: .client)
            #expect(try broken.document?.code == "body_malformed" && broken.document?.submissionID == nil)
            #expect(try await world.submissions().isEmpty)
            // Purchases are recorded as ever.
            let bought = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
            #expect(bought.status == 200)
            try await world.ledger.recordCountedRefusals()
            let entry = try #require(try await world.submissions().first { $0.refusals != nil })
            #expect(entry.refusals == 6 && entry.code == answer.refused.first?.code && !entry.restore)
            #expect(entry.evidenceSHA256?.count == 64 && entry.customerID == nil && entry.keyID != nil)
            let shown = try await world.send(.get, "/v1/submissions/\(entry.submissionID)", as: .backend)
            #expect(try shown.message(SubmissionMessage.self).refusals == 6)
        }
    }

    @Test("B.3 A server that stops records what it counted")
    func stop() async throws {
        let folder = try FileManager.default.temporaryFolder()
        defer { FileManager.default.remove(folder) }
        var app = PurchaseServerWorld.app
        app.unverifiedEvidence = EvidenceBudget(bytesPerAppAndDay: 0, bytesPerKeyAndDay: 0)
        var configuration = ServerConfiguration()
        (configuration.port, configuration.apps) = (0, ["example": app])
        let path = folder.appending(path: "assay.sqlite").path
        (configuration.database, configuration.record.folder) = ("sqlite:\(path)", folder.path)
        let server = try await startPurchaseServer(configuration, logger: PurchaseServerWorld.silent)
        let key = try await server.ledger.perform(CreateAPIKey(app: "example", name: "client", scopes: [.client])).text
        let body = try JSONEncoder().encode(Self.forged)
        try await server.application().live { client in
            for _ in 0..<7 {
                let answer = try await client.execute(
                    uri: "/v1/restores", method: .post, headers: [.authorization: "Bearer \(key)"],
                    body: ByteBuffer(bytes: body))
                #expect(answer.status == .ok)
            }
        }
        // The server has closed its database.
        let database = try SQLiteDatabase(path: path)
        let ledger = try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: []), apps: [app], clock: { Timestamp(Date()) },
            entryKey: try EntryKey(file: folder.appending(path: "assay-entries.key").path))
        let page = try await ledger.answer(SubmissionList(app: "example", limit: 10))
        #expect(page.entries.map(\.refusals) == [14])
        #expect(try await ledger.audit().findings == [])
        try await database.close()
    }

    @Test("B.3 However many restores are in progress, a key owes at most the pieces of one")
    func debt() async throws {
        let time = TestUptime()
        try await PurchaseServerWorld.run(uptime: time) { configuration in
            configuration.limits.perKey = RateLimit(perSecond: 1, burst: 300)
            configuration.limits.addressPercentOfKey = 100
            configuration.limits.networkPercentOfKey = 100
        } _: { world async throws in
            let request = RestoreRequest(customerID: "alice", signedTransactions: (0..<100).map { "e30.e30.\($0)" })
            let statuses: [Int] = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<64 {
                    group.addTask { try await world.send(.post, "/v1/restores", request, as: .client).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let answered = statuses.count { $0 == 200 }
            #expect(statuses.count { $0 == 429 } == 64 - answered)
            #expect((1...4).contains(answered), "\(answered)")
            // After 100 seconds, nothing is owed.
            time.advance(seconds: 101)
            #expect(try await world.send(.post, "/v1/restores", Self.forged, as: .client).status == 200)
        }
    }

    @Test("B.3 The bytes written for each byte sent by a client key at full speed")
    func fullSpeed() async throws {
        try await PurchaseServerWorld.run {
            $0.limits.perKey = RateLimit(perSecond: 1_000_000, burst: 1_000_000)
            $0.limits.perAddress = RateLimit(perSecond: 1_000_000, burst: 1_000_000_000)
            ($0.limits.addressPercentOfKey, $0.limits.networkPercentOfKey) = (100, 100)
            $0.apps["example"]?.unverifiedEvidence = EvidenceBudget(
                bytesPerAppAndDay: 16 << 20, bytesPerKeyAndDay: 128 << 10)
        } _: { world async throws in
            // Of pages, not of files: the check of readiness rewrites a row each second, which the WAL shows.
            func size() async throws -> Int64 {
                try await world.database.read(.lists) { connection in
                    try ["page_count", "page_size"].map { name in
                        guard case .integer(let number)? = try connection.rows("PRAGMA \(name)", []).first?.values.first
                        else { throw CancellationError() }
                        return number
                    }.reduce(1, *)
                }
            }
            func send(_ rounds: Range<Int>) async throws -> Int {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for sender in 0..<4 {
                        group.addTask {
                            var (sent, random) = (0, SeededGenerator(seed: UInt64(rounds.lowerBound * 4 + sender)))
                            for round in rounds {
                                let pieces = (0..<90).map { _ in
                                    Data((0..<12).map { _ in UInt8.random(in: 0...255, using: &random) })
                                        .base64EncodedString()
                                }
                                let request = RestoreRequest(
                                    customerID: "customer \(sender) \(round)", signedTransactions: pieces)
                                let body = try JSONEncoder().encode(request)
                                sent += body.count
                                let answer = try await world.send(.post, "/v1/restores", data: body, as: .client)
                                #expect(answer.status == 200)
                            }
                            return sent
                        }
                    }
                    return try await group.reduce(0, +)
                }
            }
            let before = try await size()
            // This uses up the budget.
            let first = try await send(0..<10)
            let within = try await size()
            let start = ContinuousClock.now
            let more = try await send(10..<50)
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            try await world.ledger.recordCountedRefusals()
            let beyond = try await size()
            print(
                "B.3 full speed: within the budget \(within - before) bytes of pages for \(first) sent, beyond it "
                    + "\(beyond - within) for \(more) sent in \(seconds) s")
            #expect(beyond - within <= 64 << 10)
            let counted = try await world.submissions().compactMap(\.refusals).reduce(0, +)
            #expect(counted == 4 * 50 * 90)
        }
    }
}
