import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PurchaseAPI

/// Turns every error into an RFC 9457 problem document, in this one place.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as any HTTPResponseError {
            response = Self.problem(error.status)
        } catch {
            context.logger.error("request failed", metadata: ["error": "\(type(of: error))"])
            response = Self.problem(.internalServerError)
        }
        // A body here would be taken for the next answer of the connection (RFC 9110, 9.3.2).
        if request.method == .head { response.body = ResponseBody() }
        return response
    }

    private static func problem(_ status: HTTPResponse.Status) -> Response {
        var json = JSONWriter(capacity: 128)
        json.object { json in
            json.key("type")
            json.string("about:blank")
            json.key("title")
            json.string(status.reasonPhrase)
            json.key("status")
            json.number(status.code)
            json.key("code")
            json.string(status.reasonPhrase.lowercased().replacing(" ", with: "_"))
        }
        return Response(
            status: status, headers: [.contentType: "application/problem+json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.bytes)))
    }
}
