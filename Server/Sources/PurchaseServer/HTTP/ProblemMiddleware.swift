import HTTPTypes
import Hummingbird
import LegacyLedger
import Logging
import NIOHTTP1

/// Turns every error into an RFC 9457 problem document, in this one place.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as HTTPParserError {
            // Hummingbird answers malformed HTTP with 400 and closes the connection: nobody can tell where the next request begins.
            throw error
        } catch let problem as Problem {
            response = problem.response()
        } catch let fault as BodyFault {
            response = Problem(fault).response()
        } catch let error as WorkersBusy {
            response = Problem(error).response()
        } catch let refusal as LedgerRefusal {
            response = Problem(refusal).response()
        } catch let error as LedgerStorageError {
            context.logger.error(
                "database failed", metadata: ["code": "\(error.kind.rawValue)", "error": "\(error.detail)"])
            response = Problem(error).response()
        } catch let error as any HTTPResponseError {
            response = Problem(error.status).response()
        } catch {
            context.logger.error("request failed", metadata: ["error": "\(type(of: error))"])
            response = Problem(.internalServerError).response()
        }
        // A body here would be taken for the next answer of the connection (RFC 9110, 9.3.2).
        if request.method == .head { response.body = ResponseBody() }
        return response
    }
}
