import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1
import PurchaseLedger

/// Converts every error to an RFC 9457 problem document, in one place.
struct ProblemMiddleware: RouterMiddleware {
    let outages: OutageLog
    /// Where the paths of the listener are, for a request of none of them.
    var paths = "GET /openapi.yaml lists all paths"

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as HTTPParserError {
            // Hummingbird answers malformed HTTP with 400 and closes the connection, because the start of the next
            // request is unknown.
            throw error
        } catch {
            var problem = problem(error, context)
            if problem.disposition == nil, Self.isClaim(request) { problem.disposition = problem.claimDisposition }
            response = problem.response()
        }
        // The client would read a body here as the connection's next answer (RFC 9110, 9.3.2).
        if request.method == .head { response.body = ResponseBody() }
        return response
    }

    private func problem(_ error: any Error, _ context: ServerContext) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let fault as BodyFault: return Problem(fault)
        case let error as WorkersBusy: return Problem(error)
        case let refusal as LedgerRefusal: return Problem(refusal)
        case let error as LedgerStorageError:
            if error.isOutage {
                context.facts.noteOutage()
                outages.note(error, context.logger)
            } else if error.kind != .appMoved {
                context.logger.error(
                    "database failed", metadata: ["code": "\(error.kind.rawValue)", "error": "\(error.detail)"])
            }
            return Problem(error)
        case let error as any HTTPResponseError: return Problem(error.status, paths: paths)
        default:
            context.logger.error("request failed", metadata: ["error": "\(type(of: error))"])
            return Problem(.internalServerError)
        }
    }

    /// Whether an app with an unfinished transaction waits for the answer.
    private static func isClaim(_ request: Request) -> Bool {
        request.method == .post
            && ["/v1/purchases", "/v1/restores"].contains { $0.utf8.elementsEqual(request.uri.path.utf8) }
    }
}

extension Problem {
    /// The instruction to an app after a claim that was not decided: `operator` if the key or the request must be
    /// corrected, otherwise `retry`. The transaction is never finished.
    fileprivate var claimDisposition: Disposition {
        status == .tooManyRequests || status == .requestTimeout || status.kind == .serverError ? .retry : .operator
    }
}

/// Answers every method that a path does not support with 405, and lists those that it supports (RFC 9110, 15.5.6).
struct MethodRoutes {
    private static let methods: [HTTPRequest.Method] =
        [.get, .head, .post, .put, .patch, .delete, .options, .trace] + [HTTPRequest.Method("QUERY")].compactMap(\.self)

    /// Call it after all other routes were added.
    func add(to router: Router<some RequestContext>) {
        let taken = Dictionary(grouping: router.routes, by: { "\($0.path)" }).mapValues { $0.map(\.method) }
        for (path, methods) in taken {
            let allowed = methods.map(\.rawValue).sorted().joined(separator: ", ")
            for method in Self.methods where !methods.contains(method) {
                router.on(RouterPath(path), method: method) { _, _ in
                    let problem = Problem(
                        .methodNotAllowed, "method_not_allowed", "The path does not support this method.",
                        expected: allowed, found: method.rawValue)
                    var response = problem.response()
                    response.headers[.allow] = allowed
                    return response
                }
            }
        }
    }
}
