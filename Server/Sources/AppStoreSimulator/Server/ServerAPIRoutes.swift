import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// The App Store Server API. The header `Host` selects the environment, as Apple's names do, if the operator allows
/// that host. By any other name, the paths are those of production, and those of the sandbox begin with `/sandbox`.
struct ServerAPIRoutes {
    let service: StoreService

    private static let sandboxHosts = [
        HostName(name: "api.storekit-sandbox.apple.com".utf8),
        HostName(name: "api.storekit-sandbox.itunes.apple.com".utf8),
    ]

    func add(to router: Router<SimulatorRequestContext>) {
        for operation in ServerAPIOperation.allCases {
            let route = operation.row
            router.on(RouterPath(route.path), method: route.method) { request, context in
                let host = request.head.authority.flatMap { HostName(authority: $0.utf8) }
                let isSandbox = Self.sandboxHosts.contains(host)
                return try await answer(request, operation, at: isSandbox ? .sandbox : .production, context)
            }
            router.on(RouterPath("/sandbox\(route.path)"), method: route.method) { request, context in
                try await answer(request, operation, at: .sandbox, context)
            }
        }
    }

    private func answer(
        _ request: Request, _ operation: ServerAPIOperation, at environment: StoreEnvironment,
        _ context: SimulatorRequestContext
    ) async throws -> Response {
        let body: ByteBuffer
        do {
            body = try await request.collectBody(upTo: SimulatorLimits.controlBody)
        } catch is NIOTooManyBytesError {
            return Response(status: .contentTooLarge)
        }
        let wanted = ServerAPIRequest(
            operation: operation, environment: environment, authorization: request.headers[.authorization],
            path: ["id", "second"].compactMap { context.parameters.get($0) },
            query: request.uri.queryParameters.map { (String($0.key), String($0.value)) },
            contentType: request.headers[.contentType], body: Array(body.readableBytesView))
        let issuer = service.issuer
        let answer = try await service.change { state, world in try state.answer(wanted, by: issuer, world) }
        var headers = HTTPFields()
        var bytes: [UInt8] = []
        if let json = answer.json {
            // Exactly this: Apple's library for Python reads no error otherwise.
            headers[.contentType] = "application/json"
            bytes = json.json
        } else if let fault = answer.tokenFault {
            headers[.contentType] = "text/plain"
            headers[.assayReason] = fault.rawValue
            bytes = Array("Unauthenticated\n\nRequest ID: \(UUID().uuidString)\n".utf8)
        }
        if let retryAfter = answer.retryAfter { headers[.retryAfter] = "\(retryAfter)" }
        return try await FaultyAnswer(
            bytes, answer.fault?.transport, context.channel, status: .init(code: answer.status), headers: headers
        ).response(to: request)
    }
}
