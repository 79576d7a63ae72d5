import AppStoreConnection
import Foundation
import Logging
import PurchaseLedger
import PurchaseVerification
import Synchronization
import Testing

/// An hour and a week without the App Store Server API, by the clocks of the store and the ledger. The calls are paced
/// by the machine's clock, and the store keeps Apple's limits.
@Suite("29 Outages of the App Store Server API", .serialized)
struct ServerAPIOutageTests {
    private static let count = 150

    @Test(
        "29 Nothing is lost or finished wrongly in an outage, and the return does not exceed Apple's limits",
        arguments: [1, 7 * 24])
    func outage(hours: Int) async throws {
        let log = CodeLog()
        try await AskingWorld.run(isPaced: true, logger: Logger(label: "test") { _ in log }) { world in
            try await world.pass("the first backfill did not end") {
                try await world.backfilled(ConnectionWorld.app) > 0
            }
            var bought: [AskingWorld.Bought] = []
            for _ in 0..<Self.count { bought.append(try await world.buy("coins", by: "ada")) }
            // Nothing arrives and nothing is answered from now on.
            try await world.store.post("faults/notifications", ["kind": "drop", "count": 100_000])
            // The store's clock is a minute behind the ledger's.
            let end = world.clock.now.date.addingTimeInterval(Double(hours) * 3600 - 60)
            try await world.store.post(
                "faults/server-api", ["kind": "outage", "until": end.ISO8601Format()])
            let lost = try await world.buy("gold", by: "grace")
            for bought in bought {
                let answer = try await world.claim(bought, "coins", by: "ada", as: "game")
                #expect(answer.code == "app_store_pending" && answer.status == 503, "\(answer)")
            }
            let step = max(600, hours * 3600 / 60)
            for passed in stride(from: 0, to: hours * 3600, by: step) {
                let isLast = passed + step >= hours * 3600
                #expect(try await world.events("granted", in: "game") == 0)
                let waiting = try await world.ledger.answer(CountWork(.claim)).count
                // After 72 hours a claim ends, without a verdict of Apple's.
                #expect(waiting == Self.count || passed + step > 72 * 3600, "\(waiting)")
                if isLast, hours > 72 {
                    // Before the store answers again, which it would be asked once more.
                    try await world.settles("claims still wait") {
                        try await world.ledger.answer(CountWork(.claim)).count == 0
                    }
                }
                try await world.advance(seconds: Int64(isLast ? hours * 3600 - passed : step))
                try await Task.sleep(for: .milliseconds(20))
            }
            if hours > 72 {
                let ended = try await world.ledger.answer(EventList(app: "game", limit: 1000))
                #expect(ended.count { $0.type == "claim_decided" } == Self.count)
                #expect(try await world.events("granted", in: "game") == 0)
                for bought in bought {
                    // It can be sent again; the circuit may still be open.
                    let again = try await world.claim(bought, "coins", by: "ada", as: "game")
                    #expect(again.status == 503 || again.status == 200, "\(again)")
                }
            }
            try await world.settles("claims still wait") {
                try await world.advance(seconds: 30)
                return try await world.ledger.answer(CountWork(.claim)).count == 0
            }
            #expect(try await world.state("coins", of: "ada", in: "game") == "\(Self.count)")
            #expect(try await world.events("granted", in: "game") == Self.count)
            try await world.settles("notifications are missing") {
                try await world.advance(seconds: 60)
                return try await world.receivedOfGame() >= Self.count + 1
            }
            let known = try await world.claim(lost, "gold", by: "grace", as: "game")
            #expect(known.status == 200 || known.code == "app_store_pending", "\(known)")
            #expect(log.count(of: "app_store_rate_limited") == 0, "Apple's limits were exceeded")
            // The first calls open the circuit, which then answers for the others.
            let unanswered = log.count(of: "app_store_unavailable") + log.count(of: "app_store_circuit_open")
            #expect(unanswered > 0, "the outage was seen")
        }
    }
}

/// Counts the codes of a server's log.
private final class CodeLog: LogHandler, Sendable {
    private let codes = Mutex<[String: Int]>([:])

    func count(of code: String) -> Int { codes.withLock { $0[code] ?? 0 } }

    var logLevel: Logger.Level {
        get { .info }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        guard let code = event.metadata?["code"].map({ "\($0)" }) else { return }
        codes.withLock { $0[code, default: 0] += 1 }
    }
}

extension AskingWorld {
    /// The end of the period whose notifications were all read.
    fileprivate func backfilled(_ bundleID: String) async throws -> Int64 {
        struct Progress: Decodable {
            let seen: Int64?
        }
        let task = WorkState(.notifications, app: "game", environment: .production, subject: bundleID)
        let text = try await ledger.answer(task)?.progress ?? "{}"
        return try JSONDecoder().decode(Progress.self, from: Data(text.utf8)).seen ?? 0
    }

    /// The number of notifications that the ledger has about the app `game`.
    fileprivate func receivedOfGame() async throws -> Int {
        try await ledger.answer(NotificationList(app: "game", limit: 500)).entries.count
    }

    /// Waits, by the machine's clock, until something is true.
    fileprivate func settles(_ words: String, until isTrue: () async throws -> Bool) async throws {
        for _ in 0..<12_000 {
            if try await isTrue() { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("\(words)")
    }
}
