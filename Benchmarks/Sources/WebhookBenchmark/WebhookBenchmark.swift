import BenchmarkShop
import EvidenceMint
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import PurchaseLedger
import PurchaseServer
import SQLiteFloor
import ServiceLifecycle
import Synchronization

/// Purchases at half of the maximum rate, without and with a webhook to a receiver on loopback, in turns.
///
///     webhook-benchmark [PURCHASES] [ROUNDS]
@main
enum WebhookBenchmark {
    static func main() async {
        do {
            let numbers = CommandLine.arguments.dropFirst().compactMap(Int.init).filter { $0 > 0 }
            try await report(purchases: numbers.first ?? 8000, rounds: numbers.dropFirst().first ?? 3)
        } catch {
            FileHandle.standardError.write(Data("webhook-benchmark: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func report(purchases: Int, rounds: Int) async throws {
        let world = try BenchmarkWorld(purchases: purchases)
        var (greatest, without, with): ([Double], [PacedResult], [PacedResult]) = ([], [], [])
        for _ in 0..<rounds {
            let rate = try await world.run(rate: nil, isDelivering: false).perSecond
            greatest.append(rate)
            without.append(try await world.run(rate: rate / 2, isDelivering: false))
            with.append(try await world.run(rate: rate / 2, isDelivering: true))
        }
        let (before, after) = (median(without.map(\.perSecond)), median(with.map(\.perSecond)))
        print("| \(purchases) purchases, 32 clients, median of \(rounds) rounds | |")
        print("|---|---:|")
        print("| greatest rate, purchases a second | \(whole(median(greatest))) |")
        print("| half of it, without webhook | \(whole(before)) |")
        print("| half of it, with a webhook | \(whole(after)) |")
        print("| with to without | \(String(format: "%.3f", after / before)) |")
        print("| mean latency without, with (ms) | \(milliseconds(without)), \(milliseconds(with)) |")
        print("| deliveries a second | \(whole(median(with.map(\.deliveriesPerSecond)))) |")
        print("| deliveries to events | \(with.map { "\($0.deliveries)/\(purchases)" }.joined(separator: ", ")) |")
    }

    private static func whole(_ number: Double) -> String { String(format: "%.0f", number) }

    private static func milliseconds(_ results: [PacedResult]) -> String {
        String(format: "%.2f", median(results.map(\.latency)) * 1000)
    }

    private static func median(_ numbers: [Double]) -> Double {
        let sorted = numbers.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }
}

/// The results of a run.
struct PacedResult: Sendable {
    var perSecond = 0.0
    /// The mean time from the scheduled start of a purchase, in seconds.
    var latency = 0.0
    var deliveries = 0
    var deliveriesPerSecond = 0.0
}

/// Claims, and the ledger that they go to.
struct BenchmarkWorld {
    private let authority: AppStoreAuthority
    private let evidence: [[UInt8]]
    private static let clients = 32

    init(purchases: Int) throws {
        let authority = try AppStoreAuthority()
        self.authority = authority
        evidence = try (0..<purchases).map { try Shop.signedTransaction(Self.transactionID($0), authority) }
    }

    private static func transactionID(_ number: Int) -> String { "\(2_000_000_000_000_000 + number)" }

    /// Submits all claims in a separate folder.
    ///
    /// - Parameters:
    ///   - rate: how many begin per second; as many as possible if it is missing.
    ///   - isDelivering: whether a webhook gets the events.
    func run(rate: Double?, isDelivering: Bool) async throws -> PacedResult {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-webhook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.database = "sqlite:\(folder.appending(path: "assay.sqlite").path)"
        configuration.record.folder = folder.path
        configuration.anchors = try Shop.anchors(authority)
        configuration.apps = [Shop.app.id: Shop.app]
        let receiver = try await CountingReceiver()
        if isDelivering { configuration.webhooks = webhooks(receiver) }
        let logger = Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        let server = try await startPurchaseServer(configuration, logger: logger)
        let services = ServiceGroup(services: [server.application()], logger: logger)
        let result = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            // A webhook gets the events after the server first saw it.
            while isDelivering, try await server.ledger.answer(WebhookList(app: "example")).isEmpty {
                try await Task.sleep(for: .milliseconds(20))
            }
            let result = try await submit(to: server.ledger, rate: rate, receiver, isDelivering: isDelivering)
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            return result
        }
        try await receiver.close()
        try FileManager.default.removeItem(at: folder)
        return result
    }

    private func webhooks(_ receiver: CountingReceiver) -> [Webhook] {
        let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
        guard let url = WebhookURL("http://127.0.0.1:\(receiver.port)/"), let secret = WebhookSecret(secret) else {
            return []
        }
        return [Webhook(app: "example", url: url, secrets: [secret], allowedHosts: ["127.0.0.1"])]
    }

    private func submit(
        to ledger: PurchaseLedger, rate: Double?, _ receiver: CountingReceiver, isDelivering: Bool
    ) async throws -> PacedResult {
        let (evidence, clients) = (evidence, Self.clients)
        let start = ContinuousClock.now
        let waited = try await Shop.concurrently(clients, count: evidence.count) { number, _ in
            var begin = ContinuousClock.now
            if let rate {
                begin = start + .seconds(Double(number) / rate)
                try await Task.sleep(until: begin, clock: .continuous)
            }
            let customer = "customer-\(number % 997)"
            _ = try await ledger.submit(Shop.claim(Self.transactionID(number), by: customer, evidence[number]))
            return (ContinuousClock.now - begin).seconds
        }
        var result = PacedResult()
        result.perSecond = Double(evidence.count) / (ContinuousClock.now - start).seconds
        result.latency = waited.reduce(0, +) / Double(evidence.count)
        guard isDelivering else { return result }
        let deadline = ContinuousClock.now + .seconds(60)
        while receiver.count < evidence.count, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        result.deliveries = receiver.count
        result.deliveriesPerSecond = Double(receiver.count) / (ContinuousClock.now - start).seconds
        return result
    }
}

/// A receiver on loopback that answers 204 and counts.
final class CountingReceiver: Sendable {
    private let counted = Atomic(0)
    private let channel: any Channel
    let port: Int

    var count: Int { counted.load(ordering: .relaxed) }

    init() async throws {
        let holder = Holder()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(holder))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        holder.receiver.withLock { $0 = self }
    }

    func close() async throws { try await channel.close() }

    private final class Holder: Sendable {
        let receiver = Mutex<CountingReceiver?>(nil)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let holder: Holder

        init(_ holder: Holder) { self.holder = holder }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            holder.receiver.withLock { _ = $0?.counted.add(1, ordering: .relaxed) }
            let head = HTTPResponseHead(version: .http1_1, status: .noContent)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
