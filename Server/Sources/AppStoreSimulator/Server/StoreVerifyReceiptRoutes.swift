import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import PurchaseAPI

/// `POST /verifyReceipt` (production) and `POST /sandbox/verifyReceipt`, with the requested faults. A client that only
/// replaced Apple's address may also select the environment with its Host header, if the operator allows that host.
struct StoreVerifyReceiptRoutes {
    let service: StoreService
    private static let applesSandbox = HostName(name: "sandbox.itunes.apple.com".utf8)

    func add(to router: Router<SimulatorRequestContext>) {
        router.post("/verifyReceipt") { request, context in
            let host = request.head.authority.flatMap { HostName(authority: $0.utf8) }
            return try await answer(request, at: host == Self.applesSandbox ? .sandbox : .production, context)
        }
        router.post("/sandbox/verifyReceipt") { request, context in
            try await answer(request, at: .sandbox, context)
        }
        for method in [HTTPRequest.Method.get, .head, .put, .patch, .delete, .options] {
            for path in ["/verifyReceipt", "/sandbox/verifyReceipt"] {
                router.on(RouterPath(path), method: method) { request, _ in
                    Self.response(request.method == .head ? [] : VerifyReceiptResponse(status: .notPosted).json())
                }
            }
        }
    }

    private func answer(
        _ request: Request, at environment: StoreEnvironment, _ context: SimulatorRequestContext
    ) async throws -> Response {
        // Apple's servers accept no chunked requests (docs/ask-apple.md).
        guard request.headers[.contentLength] != nil || request.headers[.transferEncoding] == nil else {
            return Self.response(VerifyReceiptResponse(status: .init(rawValue: 21199)).json())
        }
        // The content type is ignored: Apple's clients send JSON with several types.
        let buffer: ByteBuffer
        do {
            buffer = try await request.collectBody(upTo: SimulatorLimits.verifyReceiptBody)
        } catch is NIOTooManyBytesError {
            return Self.response(VerifyReceiptResponse(status: .malformed).json(), status: .contentTooLarge)
        }
        let body = Data(buffer.readableBytesView)
        let issuer = service.issuer
        let answer = try await service.change { state, world in
            try state.verifyReceipt(body, at: environment, by: issuer, world)
        }
        return try await FaultyAnswer(answer.json, answer.fault?.transport, context.channel).response(to: request)
    }

    static func response(_ json: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }
}
