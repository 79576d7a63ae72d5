import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

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
