import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PurchaseAPI

/// Converts every error to an RFC 9457 problem document, in one place.
struct SimulatorProblemMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: SimulatorRequestContext,
        next: (Request, SimulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as StoreError {
            return Self.problem(error.code.httpStatus, error.code.rawValue, error.message)
        } catch let error as MintError {
            return Self.problem(.unprocessableContent, "simulator_error", error.description)
        } catch let error as SimulatorRefusal {
            return Self.problem(error.status, error.code, error.detail)
        } catch let error as UnknownField {
            return Self.problem(.badRequest, "unknown_field", error.words)
        } catch let error as DecodingError {
            return Self.problem(.badRequest, "invalid_request", Self.words(error))
        } catch is NIOTooManyBytesError {
            return Self.problem(.contentTooLarge, "body_too_large", "A request has at most 1 MiB.")
        } catch let error as HTTPError {
            return Self.problem(error.status, Self.code(error.status), error.body ?? Self.words(error.status, request))
        } catch {
            context.logger.error("request failed", metadata: ["error": "\(error)"])
            return Self.problem(
                .internalServerError, "internal_server_error",
                "The simulator failed and changed nothing. Its log has the reason.")
        }
    }

    /// The answer to a request without a route. The path of a request that passed the gate is ASCII of bounded length.
    private static func words(_ status: HTTPResponse.Status, _ request: Request) -> String {
        guard status == .notFound || status == .methodNotAllowed else { return status.reasonPhrase }
        let method = request.method.rawValue.prefix(10)
        return "There is no route \(method) \(request.uri.path.prefix(100)); GET /openapi.yaml lists all."
    }

    static func problem(_ status: HTTPResponse.Status, _ code: String, _ detail: String) -> Response {
        let document = ProblemDocument(title: status.reasonPhrase, status: status.code, code: code, detail: detail)
        return Response(
            status: status, headers: [.contentType: ProblemDocument.contentType, .assayReason: code],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: document.json())))
    }

    private static func code(_ status: HTTPResponse.Status) -> String {
        status.reasonPhrase.lowercased().replacing(" ", with: "_")
    }

    /// The reason in words. Foundation's own names types of Swift.
    private static func words(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(path(context))'\(StoreJSON.name(key))' is missing."
        case .typeMismatch(let type, let context): "\(path(context))This must be \(words(type))."
        case .valueNotFound(let type, let context): "\(path(context))This must be \(words(type)), not null."
        case .dataCorrupted(let context):
            if let reason = context.underlyingError as? MalformedValue {
                "\(path(context))\(reason.words)"
            } else if context.codingPath.isEmpty {
                "The body is not JSON."
            } else {
                "\(path(context))This value is not allowed here; GET /openapi.yaml lists the allowed values."
            }
        @unknown default: "The body has the wrong format; GET /openapi.yaml describes it."
        }
    }

    private static func words(_ type: Any.Type) -> String {
        switch type {
        case is String.Type, is Date.Type: "a string"
        case is Bool.Type: "true or false"
        case is any FixedWidthInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [Any].Type: "an array"
        case is [String: Any].Type: "an object"
        default: "of another type; GET /openapi.yaml describes it"
        }
    }

    private static func path(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map(StoreJSON.name).joined(separator: ".")
        return path.isEmpty ? "" : "\(path): "
    }
}

extension StoreError.Code {
    var httpStatus: HTTPResponse.Status {
        switch self {
        case .unknownApp, .unknownProduct, .unknownCustomer, .unknownTransaction, .unknownSubscription, .unknownOffer,
            .unknownEvent, .unknownPayment, .noReceipt:
            .notFound
        case .alreadyExists, .alreadySubscribed, .wrongState, .notForSale, .notEligible, .notShareable,
            .clockBackwards, .tooManyRenewals:
            .conflict
        case .invalidValue: .unprocessableContent
        }
    }
}
