import AppStoreConnection
import HTTPTypes
import Hummingbird
import Logging

/// Passes the trace of a request on to its lines in the log, and to the calls of the App Store that it causes. A
/// request without a trace gets none.
struct TraceMiddleware: RouterMiddleware {
    // Created once, because each name is checked when it is created.
    private let name = HTTPField.Name("traceparent")

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard let name, let value = request.headers[name], let trace = TraceParent(value) else {
            return try await next(request, context)
        }
        var context = context
        context.logger[metadataKey: "trace"] = "\(trace.traceID)"
        return try await OutgoingTrace.$parent.withValue(trace.text) { [context] in try await next(request, context) }
    }
}
