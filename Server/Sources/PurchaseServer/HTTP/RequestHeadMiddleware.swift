import HTTPTypes
import Hummingbird

/// Answers a request whose head `RequestHeadHandler` refused.
struct RequestHeadMiddleware<Context: RequestContext>: RouterMiddleware {
    // Created once, because each name is checked when it is created.
    private let faultName = HTTPField.Name(RequestHeadFault.fieldName)

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let faultName, let code = request.headers[faultName] {
            throw Problem(RequestHeadFault(rawValue: code) ?? .headerMalformed)
        }
        return try await next(request, context)
    }
}

extension Problem {
    init(_ fault: RequestHeadFault) {
        switch fault {
        case .targetTooLong:
            self.init(
                .uriTooLong, fault.rawValue, "The request target is too long.",
                expected: "at most \(RequestHeadFault.targetBytes) bytes")
        case .targetMalformed:
            self.init(
                .badRequest, fault.rawValue, "The request target has characters other than visible ASCII.",
                expected: "percent-encoding (RFC 3986, 2.1)")
        case .headersTooLarge:
            self.init(
                .requestHeaderFieldsTooLarge, fault.rawValue, "The header fields are too large.",
                expected: "at most \(RequestHeadFault.fieldCount) fields, \(RequestHeadFault.fieldBytes) bytes each, "
                    + "\(RequestHeadFault.headerBytes) bytes together")
        case .hostMalformed:
            self.init(
                .badRequest, fault.rawValue, "The request has no Host, several, or one that is not a host name.",
                expected: "one Host (RFC 9112, 3.2)")
        case .headerMalformed:
            self.init(
                .badRequest, fault.rawValue, "A header field that the server reads is not ASCII.",
                expected: "visible ASCII")
        case .busy:
            self.init(.serviceUnavailable, fault.rawValue, "All connections are taken.", retryAfter: 1)
        }
    }
}

extension Collection<UInt8> {
    /// Whether it equals a text, ignoring the case of ASCII letters. Swift's own comparison of strings normalises
    /// Unicode, in quadratic time for hostile text; this one reads each byte once.
    func isEqual(ignoringCase lowercase: StaticString) -> Bool {
        lowercase.withUTF8Buffer { other in
            count == other.count && zip(self, other).allSatisfy { Self.lowercased($0) == $1 }
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
