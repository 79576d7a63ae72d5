import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// Logs one line for each request: id, method, route, status, code, duration, app and key; and counts it.
///
/// No value in the line was chosen by the sender: the route is the pattern of the router, not the path, and the code is
/// one of the server's. So no receipt, key, secret or customer can be in it.
///
/// An answer that succeeds on `verifyReceipt`, and on the routes of monitors, is logged at level debug. The drop-in
/// answers in microseconds and anybody may call it; a line for each request would cost nearly half of its rate. All
/// other answers are logged at level info or above, except while the database is away: then one line a second has the
/// number of failed requests. Of refused notifications, which anybody may send, one a minute with the same code has a
/// line; `RefusedNotifications` counts the others.
struct RequestLogMiddleware: RouterMiddleware {
    let refusedNotifications: RefusedNotifications
    let metrics: ServerMetrics
    private let times: AnswerTimes
    private let clock = ContinuousClock()

    init(refusedNotifications: RefusedNotifications, metrics: ServerMetrics, times: AnswerTimes) {
        (self.refusedNotifications, self.metrics, self.times) = (refusedNotifications, metrics, times)
    }

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let start = clock.now
        metrics.beginRequest()
        let response: Response
        do {
            response = try await next(request, context)
        } catch {
            // Only malformed HTTP gets here; Hummingbird answers it with 400.
            log(request, context, status: .badRequest, code: "http_malformed", since: start)
            throw error
        }
        let code = response.headers[.assayReason]
        log(request, context, status: response.status, code: code, since: start)
        // The id is absent only with a log handler that keeps no metadata; `context.id` would then crash.
        guard code != nil || !Self.isQuiet(context), let name = HTTPField.Name.assayRequestID,
            let id = context.logger[metadataKey: "hb.request.id"]
        else { return response }
        var identified = response
        identified.headers[name] = "\(id)"
        return identified
    }

    private func log(
        _ request: Request, _ context: ServerContext, status: HTTPResponse.Status, code: String?,
        since start: ContinuousClock.Instant
    ) {
        let duration = clock.now - start
        let method = Self.methods.contains(request.method) ? request.method.rawValue : "other"
        metrics.endRequest(method, route: context.endpointPath ?? "none", status: status.code, code: code, duration)
        let facts = context.facts.values
        times.note(request.method, route: context.endpointPath, app: facts.app, duration)
        let isCounted =
            if let code, RefusedNotifications.paths.contains(where: { $0 == context.endpointPath }) {
                refusedNotifications.isCounted(status, code)
            } else {
                false
            }
        // `OutageLog` has one line a second for all of them.
        let level = facts.isOutage || isCounted ? .debug : Self.level(status, code, context)
        guard level >= context.logger.logLevel else { return }
        let milliseconds = duration / .milliseconds(1)
        var metadata: Logger.Metadata = [
            "method": "\(method)",
            "route": "\(context.endpointPath ?? "none")",
            "status": .stringConvertible(status.code),
            "duration_ms": .stringConvertible((milliseconds * 1000).rounded() / 1000),
        ]
        if let code { metadata["code"] = "\(code)" }
        if let app = facts.app { metadata["app"] = "\(app)" }
        if let key = facts.key { metadata["key"] = "\(key)" }
        if let status = facts.receiptStatus { metadata["receipt_status"] = .stringConvertible(status) }
        context.logger.log(level: level, "request", metadata: metadata)
    }

    /// Server errors are logged as errors, temporary ones as warnings, and all decisions as information.
    private static func level(_ status: HTTPResponse.Status, _ code: String?, _ context: ServerContext) -> Logger.Level
    {
        switch status.code {
        case 503: .warning
        case 500...: .error
        case ..<400 where code == nil && isQuiet(context): .debug
        default: .info
        }
    }

    /// Whether the route is one whose successful answers are logged at level debug.
    private static func isQuiet(_ context: ServerContext) -> Bool {
        quietRoutes.contains { $0 == context.endpointPath }
    }

    private static let quietRoutes = [
        "/verifyReceipt", "/sandbox/verifyReceipt", "/healthz", "/readyz", "/metrics", "/openapi.yaml",
    ]
    /// The methods that are logged by name. A client may invent others.
    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
}

extension HTTPField.Name {
    /// The id of the request in the log.
    static let assayRequestID = HTTPField.Name("Assay-Request-ID")
}

/// The facts about a request that are found while it is answered, for its line in the log.
final class RequestFacts: Sendable {
    private let state = Mutex(Values())

    struct Values {
        /// The name of the app in the settings.
        var app: String?
        /// The id of the key, which is no secret.
        var key: String?
        /// The status in the body of an answer of `verifyReceipt`.
        var receiptStatus: Int?
        /// The number of pieces of evidence that did not verify. They are not logged; they cost the address more of its
        /// rate.
        var rejectedVerifications = 0
        /// Whether evidence in the request was read.
        var isEvidenceRead = false
        /// Whether the request failed because the database is away, which has a line of its own.
        var isOutage = false
    }

    var values: Values { state.withLock { $0 } }

    func note(app: String, key: String) {
        state.withLock { ($0.app, $0.key) = (app, key) }
    }

    func note(rejectedVerifications: Int) {
        state.withLock { $0.rejectedVerifications += rejectedVerifications }
    }

    func noteEvidence() {
        state.withLock { $0.isEvidenceRead = true }
    }

    func noteOutage() {
        state.withLock { $0.isOutage = true }
    }

    func note(receiptStatus: Int) {
        state.withLock { $0.receiptStatus = receiptStatus }
    }
}
