import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseAPI

/// Compares the body of a request with the digest that it states, before anything is done with it. A signed answer
/// vouches for the digest, also on routes that read no body.
struct ContentDigestMiddleware: RouterMiddleware {
    let bodies: BodyReader
    let limits: ServerConfiguration.Limits

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard let stated = request.headers[.contentDigest] else { return try await next(request, context) }
        guard let digest = ContentDigest.sha256(stated) else {
            guard request.headers[.acceptSignature] == nil else { throw BodyFault.digestMismatch }
            // Another algorithm, which is nobody's business here.
            return try await next(request, context)
        }
        let isOfAPI = request.uri.path.utf8.starts(with: "/v1/".utf8)
        let limit = isOfAPI ? min(limits.apiBodyBytes, limits.bodyBytes) : limits.bodyBytes
        // The route refuses it without reading it.
        guard request.headers.announcedBodyBytes <= limit else { return try await next(request, context) }
        return try await bodies.limited(to: limit).withBody(of: request) { body in
            guard SHA256.hash(data: body) == digest else { throw BodyFault.digestMismatch }
            var whole = request
            whole.body = RequestBody(buffer: ByteBuffer(bytes: body))
            return try await next(whole, context)
        }
    }
}
