import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PurchaseAPI

/// Turns every error into an RFC 9457 problem document, in this one place.
struct SimulatorProblemMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: SimulatorRequestContext,
        next: (Request, SimulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as StoreError {
            return Self.problem(error.code.httpStatus, error.code.rawValue, error.message)
        } catch let error as SimulatorError {
            return Self.problem(.unprocessableContent, "simulator_error", error.description)
        } catch let error as DecodingError {
            return Self.problem(.badRequest, "invalid_request", Self.words(error))
        } catch is NIOTooManyBytesError {
            return Self.problem(.contentTooLarge, "body_too_large", "A request has at most 1 MiB.")
        } catch let error as HTTPError {
            return Self.problem(error.status, Self.code(error.status), error.body ?? error.status.reasonPhrase)
        } catch {
            context.logger.error("request failed", metadata: ["error": "\(error)"])
            return Self.problem(
                .internalServerError, "internal_server_error",
                "The simulator failed; its log says why. Nothing was changed.")
        }
    }

    static func problem(_ status: HTTPResponse.Status, _ code: String, _ detail: String) -> Response {
        let document = ProblemDocument(title: status.reasonPhrase, status: status.code, code: code, detail: detail)
        return Response(
            status: status, headers: [.contentType: ProblemDocument.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: document.json())))
    }

    private static func code(_ status: HTTPResponse.Status) -> String {
        status.reasonPhrase.lowercased().replacing(" ", with: "_")
    }

    private static func words(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(path(context))'\(StoreJSON.name(key))' is missing."
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "\(path(context))\(context.debugDescription)"
        @unknown default: "The body is not what is expected here."
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
            .unknownEvent:
            .notFound
        case .alreadyExists, .alreadySubscribed, .wrongState, .notForSale, .notEligible, .notShareable,
            .clockBackwards, .tooManyRenewals:
            .conflict
        case .invalidValue: .unprocessableContent
        }
    }
}
