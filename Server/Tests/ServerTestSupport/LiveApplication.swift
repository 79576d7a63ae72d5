public import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

extension ApplicationProtocol {
    /// Runs the server on a free port while the body runs, and then shuts it down as SIGTERM does.
    public func live(_ body: @Sendable (LiveClient) async throws -> Void) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [LiveApplication(base: self, ports: continuation)], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // A server that cannot start ends the wait for its port.
                defer { continuation.finish() }
                try await services.run()
            }
            for await port in ports {
                do {
                    try await body(LiveClient(port: port))
                } catch {
                    await services.triggerGracefulShutdown()
                    throw error
                }
                break
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }
}

/// A server on another address, which reports its port when it listens.
private struct LiveApplication<Base: ApplicationProtocol>: ApplicationProtocol {
    let base: Base
    let ports: AsyncStream<Int>.Continuation

    var responder: Base.Responder { get async throws { try await base.responder } }
    var server: HTTPServerBuilder { base.server }
    var eventLoopGroup: any EventLoopGroup { base.eventLoopGroup }
    var configuration: ApplicationConfiguration { base.configuration.with(address: .hostname("127.0.0.1", port: 0)) }
    var logger: Logger { base.logger }
    var services: [any Service] { base.services }
    var processesRunBeforeServerStart: [@Sendable () async throws -> Void] { base.processesRunBeforeServerStart }

    @Sendable func onServerRunning(_ channel: any Channel) async {
        await base.onServerRunning(channel)
        if let port = channel.localAddress?.port { ports.yield(port) }
        ports.finish()
    }
}

/// What an audit beside a running server finds.
///
/// What the server still writes during an audit can be a finding; a second time it is none.
public func findingsAtRest<Finding>(_ audit: () async throws -> [Finding]) async throws -> [Finding] {
    var findings = try await audit()
    for _ in 0..<5 where !findings.isEmpty {
        try await Task.sleep(for: .seconds(1))
        findings = try await audit()
    }
    return findings
}
