import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseAPI
import PurchaseLedger
package import PurchaseVerification

/// `POST /verifyReceipt` and `POST /sandbox/verifyReceipt`. A client that only replaced Apple's address with ours may
/// also select the environment with its Host header.
struct VerifyReceiptRoutes {
    let live: LiveAnswers
    let recording: ReceiptRecords
    let clock: @Sendable () -> AppStoreTime
    let bodies: BodyReader
    let workers: WorkerPool
    let addresses: RateLimiter
    let metrics: ServerMetrics
    let authorities: EndedAuthorityAlarm

    func add(to router: Router<ServerContext>) {
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
                    Self.response(.notPosted, .notPosted)
                }
            }
        }
    }

    /// The body is read as JSON regardless of its content type, because Apple's clients send it with several.
    private func answer(
        _ request: Request, at endpoint: VerifyReceiptService.Endpoint, _ context: ServerContext
    ) async throws -> Response {
        let (service, sender, clock) = (live.service, context.limitedAddress, clock)
        if let wait = addresses.take(sender) {
            return Self.response(
                .temporarilyUnavailable, .tooManyRequests(retryAfter: RateLimiter.retryAfter(wait)))
        }
        do {
            // The answer as of signing is complete before the ledger is asked.
            let (prepared, signed) = try await bodies.withBody(of: request) { body in
                try await workers.run { [metrics] in
                    let prepared = service.prepare(body, at: endpoint, from: sender, now: clock())
                    if let verification = prepared.verification {
                        metrics.noteVerification(verification.kind, verification.error, verification.duration)
                    }
                    return (prepared, prepared.answer.response.json())
                }
            }
            recording.note(prepared)
            let (answer, json) = await live.answer(prepared) ?? (prepared.answer, signed)
            context.facts.note(receiptStatus: answer.response.status.rawValue)
            if case .verification(let error) = answer.reason {
                authorities.note(error)
                if error.code.isExpensive { addresses.charge(sender, rejections: 1) }
            }
            return Self.response(
                json, answer.reason, state: answer.state, isOfSignedTransaction: prepared.isOfSignedTransaction)
        } catch is WorkersBusy {
            return Self.response(.temporarilyUnavailable, .serverBusy)
        } catch BodyFault.noRoom {
            return Self.response(.temporarilyUnavailable, .serverBusy)
        } catch BodyFault.tooLarge {
            return Self.response(.malformed, .bodyTooLarge)
        } catch BodyFault.incomplete {
            return Self.response(.internalError, .requestIncomplete)
        }
    }

    private static func isSandboxHost(_ authority: String) -> Bool {
        authority.utf8.prefix { $0 != UInt8(ascii: ":") }.isEqual(ignoringCase: "sandbox.itunes.apple.com")
    }

    private static func response(_ status: VerifyReceiptStatus, _ reason: VerifyReceiptReason) -> Response {
        response(VerifyReceiptResponse(status: status).json(), reason)
    }

    private static func response(
        _ json: [UInt8], _ reason: VerifyReceiptReason?, state: VerifyReceiptService.AnswerState? = nil,
        isOfSignedTransaction: Bool = false
    ) -> Response {
        var headers = HTTPFields()
        headers.append(.json)
        if let reason { headers.append(HTTPField(name: .assayReason, value: reason.code)) }
        switch state {
        case .live: headers.append(.live)
        case .asOfSigning: headers.append(.asOfSigning)
        case nil: break
        }
        if isOfSignedTransaction { headers.append(.signedTransaction) }
        if let seconds = reason?.retryAfter { headers[.retryAfter] = "\(seconds)" }
        return Response(
            status: reason?.httpStatus ?? .ok, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }
}

extension VerifyReceiptReason {
    /// Apple answers everything with 200. The drop-in does too, except for errors that are not about the receipt: an
    /// answer with `Retry-After` also has the HTTP status, for proxies and for clients that back off.
    fileprivate var httpStatus: HTTPResponse.Status {
        switch self {
        case .bodyTooLarge: .contentTooLarge
        case .serverBusy, .appMoved: .serviceUnavailable
        case .tooManyRequests, .tooManyWrongSecrets: .tooManyRequests
        default: .ok
        }
    }

    fileprivate var retryAfter: Int? {
        switch self {
        case .serverBusy: 1
        case .appMoved: AccessMiddleware.retryOfMoved
        case .tooManyRequests(let seconds), .tooManyWrongSecrets(let seconds): seconds
        default: nil
        }
    }
}

extension HTTPField {
    // Created once, because each value is checked when it is created.
    fileprivate static let json = HTTPField(name: .contentType, value: "application/json")
    fileprivate static let signedTransaction = HTTPField(
        name: .assayEvidenceKind, value: EvidenceKind.signedTransaction.rawValue)
    fileprivate static let live = HTTPField(name: .assayState, value: "live")
    fileprivate static let asOfSigning = HTTPField(name: .assayState, value: "as-of-signing")
}

/// The reason why the status of an answer is not 0, sent in the header `Assay-Reason`.
package enum VerifyReceiptReason: Sendable {
    case verification(VerificationError)
    case notPosted
    case notJSON
    case wrongEndpoint
    case secretMismatch
    case tooManyRequests(retryAfter: Int)
    case tooManyWrongSecrets(retryAfter: Int)
    case expired
    case erased
    case signedTransactionNotAccepted
    case bodyTooLarge
    case requestIncomplete
    case serverBusy
    case appMoved

    /// The stable code.
    package var code: String {
        switch self {
        case .verification(let error): error.code.rawValue
        case .notPosted: "not_posted"
        case .notJSON: "not_json"
        case .wrongEndpoint: "environment_mismatch"
        case .secretMismatch: "shared_secret_mismatch"
        case .tooManyRequests, .tooManyWrongSecrets: "rate_limited"
        case .expired: "subscription_expired"
        case .erased: "purchase_erased"
        case .signedTransactionNotAccepted: "signed_transaction_not_accepted"
        case .bodyTooLarge: "evidence_too_large"
        case .requestIncomplete: "request_incomplete"
        case .serverBusy: "server_busy"
        case .appMoved: LedgerStorageError.Kind.appMoved.rawValue
        }
    }
}
