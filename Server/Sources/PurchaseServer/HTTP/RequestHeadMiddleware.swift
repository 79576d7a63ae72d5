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

/// Finds the client of a request that came through the operator's proxies. Otherwise limits and the record would see
/// only the proxy.
///
/// Each proxy appends the address of its caller to `X-Forwarded-For`. So the last address that is not one of the
/// operator's proxies is the client; the client may have written everything before it.
struct ClientAddressMiddleware: RouterMiddleware {
    let proxies: [AddressRange]

    /// More consecutive proxies than any operator has.
    private static let longestChain = 32

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        if let peer = context.remoteAddress, let name = HTTPField.Name("X-Forwarded-For") {
            let client = client(peer, request.headers[values: name])
            context.clientAddress = AddressRange.socketAddress(client.address)
            context.isClientUnreadable = client.isUnreadable
        }
        return try await next(request, context)
    }

    /// The client, and whether it is a proxy that sent something else than the address of its caller.
    private func client(_ peer: String, _ fields: [String]) -> (address: String, isUnreadable: Bool) {
        var client = peer
        let entries = fields.flatMap { $0.split(separator: ",") }.suffix(Self.longestChain)
        for entry in entries.reversed() {
            guard isProxy(client) else { return (client, false) }
            guard let address = Self.address(entry) else { return (client, true) }
            client = address
        }
        return (client, entries.isEmpty && !fields.isEmpty && isProxy(client))
    }

    private func isProxy(_ address: String) -> Bool { proxies.contains { $0.contains(address) } }

    /// An entry without its port; `nil` if it is not an address, such as `unknown`.
    private static func address(_ entry: Substring) -> String? {
        let text = entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        let address: Substring
        if text.hasPrefix("[") {
            address = text.dropFirst().prefix { $0 != "]" }
        } else {
            address = text.count { $0 == ":" } == 1 ? text.prefix { $0 != ":" } : text
        }
        return AddressRange.bytes(of: String(address)) == nil ? nil : String(address)
    }
}
