import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseAPI
import Synchronization

/// Signs the answers to requests that ask for it, including errors. It is the outermost middleware, so that it signs
/// what is sent. For other requests, it only checks one header.
struct AnswerSigningMiddleware: RouterMiddleware {
    let signer: AnswerSigner

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard let accepted = request.headers[.acceptSignature] else { return try await next(request, context) }
        let response = try await next(request, context)
        guard request.method != .head, let wanted = AnswerSignature.Wanted(acceptSignature: accepted),
            // `ContentDigestMiddleware` compares the body of the request with it.
            let digest = request.headers[.contentDigest], ContentDigest.sha256(digest) != nil,
            let contentType = response.headers[.contentType]
        else { return response }
        let body = try await response.body.collected()
        let message = AnswerSignature.Message(
            status: response.status.code, contentType: contentType,
            contentDigest: ContentDigest.text(sha256: Array(SHA256.hash(data: body.readableBytesView))),
            method: request.method.rawValue, path: request.uri.path, requestDigest: digest)
        let (input, signature) = try signer.signature(of: message, wanted)
        var signed = Response(status: response.status, headers: response.headers, body: ResponseBody(byteBuffer: body))
        signed.headers[.contentDigest] = message.contentDigest
        signed.headers[.signatureInput] = input
        signed.headers[.signature] = signature
        return signed
    }
}

extension HTTPField.Name {
    static let acceptSignature = fixed(AnswerSignature.acceptField)
    static let signatureInput = fixed(AnswerSignature.inputField)
    static let signature = fixed(AnswerSignature.signatureField)
    static let contentDigest = fixed(ContentDigest.field)

    /// The initialiser refuses only characters that these names do not have, so the other name is never used.
    private static func fixed(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .accept }
}

extension ResponseBody {
    /// The whole body. Answers of this server are small and already in memory.
    fileprivate consuming func collected() async throws -> ByteBuffer {
        let collector = BodyCollector()
        try await write(collector)
        return collector.whole.withLock { $0 }
    }
}

/// Collects what a body writes.
private final class BodyCollector: ResponseBodyWriter, Sendable {
    let whole = Mutex(ByteBuffer())

    func write(_ buffer: ByteBuffer) async throws {
        var buffer = buffer
        whole.withLock { _ = $0.writeBuffer(&buffer) }
    }

    func finish(_: HTTPFields?) async throws {}
}
