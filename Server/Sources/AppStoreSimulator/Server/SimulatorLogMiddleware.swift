import HTTPTypes
import Hummingbird
import Logging

/// Logs one line for each request: method, route, status, code and duration. No value in it was chosen by the client.
struct SimulatorLogMiddleware: RouterMiddleware {
    private let clock = ContinuousClock()

    func handle(
        _ request: Request, context: SimulatorRequestContext,
        next: (Request, SimulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = clock.now
        let response = try await next(request, context)
        let milliseconds = (clock.now - start) / .milliseconds(1)
        var facts: Logger.Metadata = [
            "method": "\(Self.methods.contains(request.method) ? request.method.rawValue : "other")",
            "route": "\(context.endpointPath ?? "none")",
            "status": .stringConvertible(response.status.code),
            "duration_ms": .stringConvertible((milliseconds * 1000).rounded() / 1000),
        ]
        if let code = response.headers[.assayReason] { facts["code"] = "\(code)" }
        context.logger.info("request", metadata: facts)
        return response
    }

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
}

extension HTTPField.Name {
    /// The stable code of an answer that refuses something. The fallback cannot happen: the name is a valid token.
    static let assayReason = HTTPField.Name("Assay-Reason") ?? .server
}
