import AppStoreConnection
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import Synchronization
import Testing

@Suite("C.4 Pages that lead to themselves", .serialized)
struct PageTests {
    private static let id = "2000000000000001"

    /// A page of a history that leads to another, or is the last.
    private static func page(_ next: String?) throws -> RecordingServer.Reply {
        let rest = next.map { #""hasMore":true,"revision":"\#($0)""# } ?? #""hasMore":false,"revision":"end""#
        return try .json(#"{"signedTransactions":["\#(SignedAnswer.transaction())"],\#(rest)}"#)
    }

    private static func place(_ request: RecordingServer.Request) -> String? {
        request.head.uri.split(separator: "=").dropFirst().first.map(String.init)
    }

    /// What follows each revision: a page that repeats its own, and two that lead to each other.
    private static let loops: [[String?: String]] = [["a": "a", nil: "a"], [nil: "a", "a": "b", "b": "a"]]

    @Test("C.4 A history that leads to itself is unreadable, for an import and for a backfill", arguments: loops)
    func loop(_ next: [String?: String]) async throws {
        try await ServerAPIClaimWorld.run(answer: { request in
            request.head.uri.contains("/history/")
                ? try Self.page(next[Self.place(request)])
                : .json(#"{"notificationHistory":[],"hasMore":false}"#)
        }) { world in
            let (server, app) = try Self.client(world)
            let reading = HistoryReading(server: server, ledger: world.ledger, workers: WorkerPool(limit: 64))
            for isImport in [true, false] {
                let before = world.requests("GET /p/inApps/v2/history/").count
                do {
                    var task = LedgerWork(.history, app: "game", environment: .production, subject: Self.id)
                    if isImport {
                        _ = try await reading.fetch(Self.id, for: app)
                    } else {
                        _ = try await reading.read(&task, for: app, in: .production)
                    }
                    Issue.record("it was read to its end")
                } catch let error as AppStoreServerError {
                    #expect(error.code == .unreadable && error.isEndless, "\(error)")
                    #expect(error.seen.hasSuffix("leads to a page that was read already"), "\(error)")
                }
                #expect(world.requests("GET /p/inApps/v2/history/").count - before == next.count)
            }
            try await server.shutdown()
        }
    }

    private static func client(
        _ world: ServerAPIClaimWorld
    ) throws -> (server: AppStoreServerClient, app: AppStoreServerApp) {
        let address = "http://127.0.0.1:\(world.port)"
        var settings = try AppStoreServerSettings(production: "\(address)/p", sandbox: "\(address)/s")
        settings.limitFactor = 1000
        let client = try AppStoreServerClient(
            settings, limits: .patient, storeTime: { AppStoreTime(ServerAPIWorld.moment) })
        let verifier = PurchaseVerifier(anchors: try TrustAnchor.certificates(of: ConnectionWorld.authority.get()))
        let app = AppStoreServerApp(
            "game", bundleID: ServerAPIWorld.bundleID, keys: [try TestKey().key()], verifier: verifier)
        return (client, app)
    }

    @Test("C.4 A history without an end is read for 1,000 pages, and a day of notifications for 5,000")
    func endless() async throws {
        try await ServerAPIWorld.run(
            limitFactor: 1_000_000,
            answer: { request in
                let number = request.number
                return request.head.method == .GET
                    ? .json(#"{"signedTransactions":[],"hasMore":true,"revision":"\#(number)"}"#)
                    : .json(#"{"notificationHistory":[],"hasMore":true,"paginationToken":"\#(number)"}"#)
            }
        ) { world in
            var history = PageReader(GetTransactionHistory(Self.id), world.client, for: world.app)
            #expect(await Self.pages(&history) == (1000, "more than 1000 pages"))
            #expect(world.lines.count == 1000)
            let day = GetNotificationHistory.Filter(from: 0, to: 86_400_000)
            // Its first 4,900 pages were read in earlier turns.
            var notifications = PageReader(
                GetNotificationHistory(day, paginationToken: "x"), world.client, for: world.app, after: 4900)
            #expect(await Self.pages(&notifications) == (100, "more than 5000 pages"))
        }
    }

    /// The pages until there is none, and why.
    private static func pages<Operation>(_ reader: inout PageReader<Operation>) async -> (Int, String) {
        var count = 0
        do throws(AppStoreServerError) {
            while try await reader.next() != nil { count += 1 }
            return (count, "")
        } catch {
            return (count, error.isEndless ? error.seen : "\(error)")
        }
    }

    @Test("C.4 A day of notifications that leads to itself is read again each day, and the days after it are read")
    func notifications() async throws {
        let isBroken = Mutex(true)
        let start = LedgerClock().now.millisecondsSince1970
        struct Period: Decodable {
            let startDate, endDate: Int64
        }
        @Sendable func isOfBrokenDay(_ request: RecordingServer.Request) throws -> Bool {
            let period = try JSONDecoder().decode(Period.self, from: Data(request.body.utf8))
            return (period.startDate..<period.endDate).contains(start - 100 * 86_400_000)
        }
        try await ServerAPIClaimWorld.run(answer: { request in
            try isBroken.withLock { $0 } && isOfBrokenDay(request)
                ? .json(#"{"notificationHistory":[],"hasMore":true,"paginationToken":"again"}"#)
                : .json(#"{"notificationHistory":[],"hasMore":false}"#)
        }) { world in
            @Sendable func progress() async throws -> String {
                try await world.task(.notifications, ServerAPIWorld.bundleID)?.progress ?? ""
            }
            func seen(_ time: Int64) async throws {
                try await world.wait("the backfill did not end") { try await progress().contains("\"seen\":\(time)") }
            }
            try await seen(start)
            #expect(try world.store.requests.filter(isOfBrokenDay).count == 2)
            #expect(try await progress().contains("undecided"))
            isBroken.withLock { $0 = false }
            world.clock.advance(seconds: 86_401)
            try await seen(start + 86_401_000)
            #expect(try world.store.requests.filter(isOfBrokenDay).count == 3)
            #expect(try await !progress().contains("undecided"))
        }
    }

    @Test("C.4 A page has at most 500 entries and 2 MB")
    func largePages() async throws {
        let filter = GetNotificationHistory.Filter(from: 1, to: 2)
        for (count, padding, notifications, transactions) in [
            (500, 0, "answered", "app_store_unverified"), (501, 0, "app_store_unreadable", "app_store_unreadable"),
            (1, 2 << 20, "app_store_too_large", "app_store_too_large"),
        ] {
            let space = String(repeating: " ", count: padding)
            let answer: ServerAPIWorld.Answer = { request in
                let entry = request.head.method == .GET ? #""e30.e30""# : #"{"signedPayload":"e30.e30"}"#
                let name = request.head.method == .GET ? "signedTransactions" : "notificationHistory"
                let entries = Array(repeating: entry, count: count).joined(separator: ",")
                return .json(#"{"\#(name)":[\#(entries)],"hasMore":false}"# + space)
            }
            // Two clients: five answers without an end would open the circuit of one.
            try await ServerAPIWorld.run(answer: answer) { world in
                #expect(await world.code(of: GetNotificationHistory(filter)) == notifications, "\(count)")
            }
            try await ServerAPIWorld.run(answer: answer) { world in
                #expect(await world.code(of: GetTransactionHistory(Self.id)) == transactions, "\(count)")
            }
        }
    }

    @Test(
        "C.4 Eight interim answers are skipped, and nine are no answer",
        arguments: [(8, "answered"), (9, "unreadable")])
    func interimAnswers(_ count: Int, _ code: String) async throws {
        let answer =
            String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: count)
            + "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 29\r\n\r\n"
            + #"{"testNotificationToken":"t"}"#
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answerer(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
        let client = try AppStoreServerClient(
            AppStoreServerSettings(production: address, sandbox: address), limits: .patient,
            clock: ManualClock().connectionClock())
        let app = AppStoreServerApp("game", bundleID: ServerAPIWorld.bundleID, keys: [try TestKey().key()])
        // Twice over one connection: the count is of one request.
        for _ in 0..<2 {
            do throws(AppStoreServerError) {
                _ = try await client.call(RequestTestNotification(), for: app, in: .production)
                #expect(code == "answered")
            } catch {
                #expect(error.code.rawValue == "app_store_\(code)" && error.seen.contains("interim"), "\(error)")
            }
        }
        try await client.shutdown()
        try await channel.close().get()
    }

    /// Answers each read with the same bytes.
    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let answer: String

        init(_ answer: String) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        }
    }
}
