import HTTPTypes
import Hummingbird

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
