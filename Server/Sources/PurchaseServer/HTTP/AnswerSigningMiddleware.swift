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
            // A stream has no end that could be signed.
            let contentType = response.headers[.contentType], contentType != Wire.streamType
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

// The fallbacks cannot happen: all names are valid tokens.
extension HTTPField.Name {
    /// The stable code of an answer that refuses something.
    static let assayReason = HTTPField.Name("Assay-Reason") ?? .server
    /// The time for which the answer holds.
    static let assayState = HTTPField.Name("Assay-State") ?? .server
    /// The kind of evidence that `verifyReceipt` got in place of a receipt.
    static let assayEvidenceKind = HTTPField.Name("Assay-Evidence-Kind") ?? .server
}
