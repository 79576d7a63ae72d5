import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import PurchaseAPI
import PurchaseVerification
import Synchronization

/// `POST /verifyReceipt` and `POST /sandbox/verifyReceipt`. A client that only exchanged Apple's address for ours may also
/// say by its Host header which of the two it means.
struct VerifyReceiptRoutes {
    private let service: VerifyReceiptService
    private let limits: ServerConfiguration.Limits
    private let buffered: ByteBudget

    init(service: VerifyReceiptService, limits: ServerConfiguration.Limits) {
        self.service = service
        self.limits = limits
        buffered = ByteBudget(limit: limits.bufferedBytes)
    }

    func add(to router: Router<some RequestContext>) {
        router.post("/verifyReceipt") { request, context in
            let isSandbox = request.head.authority.map(Self.isSandboxHost) ?? false
            return try await answer(request, at: isSandbox ? .sandbox : .production, context)
        }
        router.post("/sandbox/verifyReceipt") { request, context in
            try await answer(request, at: .sandbox, context)
        }
        for method in [HTTPRequest.Method.get, .head, .put, .patch, .delete, .options] {
            for path in ["/verifyReceipt", "/sandbox/verifyReceipt"] {
                router.on(RouterPath(path), method: method) { _, _ in
                    Self.response(VerifyReceiptResponse(status: .notPosted), reason: .notPosted)
                }
            }
        }
    }

    private func answer(
        _ request: Request, at door: VerifyReceiptService.Door, _ context: some RequestContext
    ) async throws -> Response {
        var held = 0
        defer { buffered.give(back: held) }
        var body: [UInt8] = []
        // What is announced need not come, so only what usual receipts take is set aside for it.
        let announced = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        body.reserveCapacity(max(0, min(announced, Self.usualBodyBytes)))
        do {
            // Whatever the content type says: Apple's clients send JSON under several.
            for try await part in request.body {
                guard body.count + part.readableBytes <= limits.bodyBytes else {
                    return Self.response(
                        VerifyReceiptResponse(status: .malformed), reason: .bodyTooLarge, status: .contentTooLarge)
                }
                guard buffered.take(part.readableBytes) else {
                    return Self.response(VerifyReceiptResponse(status: .internalError), reason: .serverBusy)
                }
                held += part.readableBytes
                part.readableBytesView.withUnsafeBytes { body.append(contentsOf: $0) }
            }
        } catch let error as HTTPParserError {
            // The library answers what is no HTTP.
            throw error
        } catch {
            // The connection broke or was cut off; nobody will read this.
            context.logger.debug("request body did not arrive", metadata: ["error": "\(type(of: error))"])
            return Self.response(VerifyReceiptResponse(status: .internalError), reason: .requestIncomplete)
        }
        let answer = service.answer(body, at: door, now: Timestamp(Date()))
        context.logger.debug(
            "verifyReceipt answered",
            metadata: [
                "status": "\(answer.response.status.rawValue)",
                "reason": "\(answer.reason?.code ?? "none")",
            ])
        return Self.response(answer.response, reason: answer.reason, isAsOfSigning: answer.isAsOfSigning)
    }

    /// A receipt of more than 400 purchases fits in.
    private static let usualBodyBytes = 256 << 10

    private static func isSandboxHost(_ authority: String) -> Bool {
        authority.lowercased().split(separator: ":").first == "sandbox.itunes.apple.com"
    }

    private static func response(
        _ response: VerifyReceiptResponse, reason: VerifyReceiptReason?, isAsOfSigning: Bool = false,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        var headers = HTTPFields()
        headers.append(.json)
        if let reason { headers.append(HTTPField(name: .assayReason, value: reason.code)) }
        if isAsOfSigning { headers.append(.asOfSigning) }
        return Response(
            status: status, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: response.json())))
    }
}

/// Counts the bytes that are held for all requests together, up to a limit.
private final class ByteBudget: Sendable {
    private let limit: Int
    private let held = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether there is room for so many more bytes; whoever took them must give them back.
    func take(_ count: Int) -> Bool {
        if held.add(count, ordering: .relaxed).newValue <= limit { return true }
        give(back: count)
        return false
    }

    func give(back count: Int) {
        held.subtract(count, ordering: .relaxed)
    }
}

// The fallbacks cannot happen: both names are valid tokens.
extension HTTPField.Name {
    /// Why the status is not 0, as a stable code.
    static let assayReason = HTTPField.Name("Assay-Reason") ?? .server
    /// To what time the answer speaks.
    static let assayState = HTTPField.Name("Assay-State") ?? .server
}

extension HTTPField {
    // Made once, as each value is checked when it is made.
    fileprivate static let json = HTTPField(name: .contentType, value: "application/json")
    fileprivate static let asOfSigning = HTTPField(name: .assayState, value: "as-of-signing")
}
