import Foundation
import HTTPConnections
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// The listener for operators: metrics and health, on an address of its own, so that they are never public by accident.
/// It has no TLS and no key; its address is this machine or a socket, or a network that the operator trusts.
struct AdminListener: Service, CustomStringConvertible {
    let address: AdminAddress
    /// Whether a free port is used if another program has that of the address.
    let givesWay: Bool
    let responder: any HTTPResponder<ServerContext>
    let limiter: ConnectionLimiter
    let answers: AnswerBudget
    /// The limits in force when a connection is opened.
    let currentLimits: @Sendable () -> ServerConfiguration.Limits
    let onReady: @Sendable (String) async -> Void
    let logger: Logger

    /// The connections of monitors and of a few people with the console.
    static let connections = 64
    /// The largest body: evidence that is pasted into the console.
    static let bodyBytes = 2 << 20

    /// Its name alone, because groups of services log it.
    var description: String { "AdminListener" }

    func run() async throws {
        let place: BindAddress
        switch address {
        case .off:
            return try await gracefulShutdown()
        case .port(let host, let port): place = .hostname(host, port: port)
        case .socket(let path): place = .unixDomainSocket(path: path)
        }
        if !address.isLocal {
            logger.warning(
                "the listener for operators can be reached from other machines, and asks for no key",
                metadata: ["admin": "\(address)"])
        }
        do {
            do {
                try await application(place).run()
            } catch let error as IOError where error.errnoCode == EADDRINUSE && givesWay {
                try await application(.hostname(address.host ?? "127.0.0.1", port: 0)).run()
            }
        } catch {
            throw AdminListenerError(error, address)
        }
        if case .socket(let path) = address {
            // It may be gone already.
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    private func application(_ place: BindAddress) -> some ApplicationProtocol {
        Application(
            responder: AnyResponder(responder: responder),
            server: HTTPServerBuilder { [limiter, answers, currentLimits] responder in
                HTTPConnection(responder: responder, limiter: limiter, answers: answers, isSecure: false) {
                    var limits = currentLimits()
                    limits.bodyBytes = min(limits.bodyBytes, Self.bodyBytes)
                    return limits
                }
            },
            configuration: ApplicationConfiguration(
                address: place, serverName: "assay",
                availableConnectionsDelegate: MaximumAvailableConnections(
                    Self.connections + ConnectionLimiter.reserve)),
            onServerRunning: { [self] channel in await report(channel) },
            logger: logger)
    }

    private func report(_ channel: any Channel) async {
        let opened: String
        switch address {
        case .off: return
        case .port(let host, let port):
            let found = AdminAddress.port(host: host, channel.localAddress?.port ?? port)
            opened = "http://\(found)"
        case .socket(let path):
            // The group of the server may be that of the monitor's user.
            do {
                try FileManager.default.setAttributes([.posixPermissions: 0o660], ofItemAtPath: path)
            } catch {
                logger.warning("the mode of a socket was not set", metadata: ["admin": "\(path)", "error": "\(error)"])
            }
            opened = path
        }
        logger.info("metrics and health are open", metadata: ["admin": "\(opened)"])
        await onReady(opened)
    }

    /// A responder whose type is not known.
    private struct AnyResponder: HTTPResponder {
        let responder: any HTTPResponder<ServerContext>

        func respond(to request: Request, context: ServerContext) async throws -> Response {
            try await responder.respond(to: request, context: context)
        }
    }
}

/// Answers only requests that name the listener for operators on purpose.
///
/// A page of another site can give its own name the address of this machine (DNS rebinding), and would then read
/// metrics, and the console in the name of the operator's browser. Such a request has a name in `Host`, so only
/// addresses, `localhost` and the host of the listener are answered.
struct AdminHostMiddleware: RouterMiddleware {
    typealias Context = ServerContext

    /// The host of the listener.
    let listener: String

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard let host = request.head.authority, accepts(host) else {
            throw Problem(
                .misdirectedRequest, "host_not_allowed", "The listener for operators has another host.",
                expected: "its address, localhost, or the host of server.admin", found: request.head.authority)
        }
        return try await next(request, context)
    }

    private func accepts(_ host: String) -> Bool {
        if host.hasPrefix("[") { return host.wholeMatch(of: /\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?/) != nil }
        let name = host.split(separator: ":", omittingEmptySubsequences: false).first.map { $0.lowercased() } ?? ""
        return name == "localhost" || name == listener.lowercased() || AddressRange.bytes(of: name)?.count == 4
    }
}

/// Why the listener for operators does not run.
public struct AdminListenerError: Error, CustomStringConvertible {
    /// The error and what to do.
    public let description: String

    init(_ error: any Error, _ address: AdminAddress) {
        let remedy = "choose another in server.admin (--admin), or turn it off with --admin off"
        let (code, fault) =
            switch (error as? IOError)?.errnoCode {
            case EADDRINUSE:
                ("admin_address_in_use", "\(address) is in use, probably by another server on this machine; \(remedy)")
            case EACCES: ("admin_address_refused", "\(address) is not permitted; \(remedy)")
            case EADDRNOTAVAIL: ("admin_address_refused", "\(address) is not an address of this machine; \(remedy)")
            default: ("admin_address_refused", "\(address) cannot be listened on (\(error)); \(remedy)")
            }
        description = "\(code): the address for metrics and health, \(fault)"
    }

    /// What a program says that found the address taken before the start.
    public static func words(_ error: any Error, _ address: AdminAddress) -> String {
        AdminListenerError(error, address).description
    }
}
