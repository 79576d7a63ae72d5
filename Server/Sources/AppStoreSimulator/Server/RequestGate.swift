import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// Refuses requests that a page of another origin can make a browser send, before they reach a route.
///
/// The simulator has no API keys: every client that reaches it has full access, and every server that trusts its
/// authority accepts its evidence as a purchase. Any web page can point its own host name to 127.0.0.1 (DNS rebinding),
/// and then has the same origin as the simulator; only the header `Host` still shows the page's name. Without
/// rebinding, a page can post a form, which shows in `Origin` and `Sec-Fetch-Site` (Fetch, 3.2; Fetch Metadata Request
/// Headers, 2.4).
///
/// It looks at bytes only. A request that passes has a target in ASCII of bounded length, so the router may compare it.
struct RequestGate<Next: HTTPResponder>: HTTPResponder where Next.Context == SimulatorRequestContext {
    /// The hosts that the operator named. Loopback names are always allowed.
    let allowedHosts: [HostName]
    let next: Next

    func respond(to request: Request, context: SimulatorRequestContext) async throws -> Response {
        if let refusal = refusal(request.head) { return refusal }
        return try await next.respond(to: request, context: context)
    }

    private func refusal(_ head: HTTPRequest) -> Response? {
        guard head.values("host").isEmpty, let authority = head.authority,
            let host = HostName(authority: authority.utf8)
        else {
            return Self.problem(.badRequest, "invalid_host", "Send one header 'Host' with a name or an address.")
        }
        guard host.isLoopback || allowedHosts.contains(host) else {
            return Self.problem(
                .misdirectedRequest, "host_not_allowed",
                "The host '\(host.text)' is not allowed. If clients reach the simulator by this name, start it with "
                    + "'--allow-host \(host.text)'.")
        }
        guard let path = head.path?.utf8, path.first == UInt8(ascii: "/"),
            path.allSatisfy({ (0x21...0x7E).contains($0) }), !Self.hasEmptySegment(path)
        else {
            return Self.problem(
                .badRequest, "invalid_target",
                "The target of a request is a path in ASCII without empty segments, such as /control/state.")
        }
        guard path.count <= SimulatorLimits.targetBytes else {
            return Self.problem(
                .uriTooLong, "target_too_long",
                "The target of a request has at most \(SimulatorLimits.targetBytes) bytes.")
        }
        if changesState(head, path), isCrossOrigin(head, authority.utf8) {
            return Self.problem(
                .forbidden, "cross_origin",
                "The request comes from a page of another origin. Only the simulator's own page may send it.")
        }
        return nil
    }

    /// Pages anywhere may link to the page and its resources. All other routes change something, including GET under
    /// `/control/`, which signs evidence and uses up faults.
    private func changesState(_ head: HTTPRequest, _ path: String.UTF8View) -> Bool {
        !(head.method == .get || head.method == .head) || path.starts(with: "/control".utf8)
    }

    /// Whether the path has two consecutive slashes. The router drops empty segments, so for the router alone
    /// `//control` would be `/control`.
    private static func hasEmptySegment(_ target: String.UTF8View) -> Bool {
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        return zip(path, path.dropFirst()).contains { $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: "/") }
    }

    /// Whether a browser marks the request as coming from another origin. Programs that are not browsers send neither
    /// header.
    private func isCrossOrigin(_ head: HTTPRequest, _ authority: String.UTF8View) -> Bool {
        for site in head.values("sec-fetch-site") {
            guard site.elementsEqual("same-origin".utf8) || site.elementsEqual("none".utf8) else { return true }
        }
        return head.values("origin").contains { origin in
            // A proxy that ends HTTPS gives the page another scheme than the simulator's.
            !["http://", "https://"].contains { scheme in
                origin.starts(with: scheme.utf8)
                    && origin.dropFirst(scheme.utf8.count).elementsEqual(authority) { Self.small($0) == Self.small($1) }
            }
        }
    }

    private static func small(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func problem(_ status: HTTPResponse.Status, _ code: String, _ detail: String) -> Response {
        SimulatorProblemMiddleware.problem(status, code, detail)
    }
}

extension HTTPRequest {
    /// The values of a header, by its name in lower case. Names are tokens in ASCII (RFC 9110, 5.1).
    fileprivate func values(_ name: String) -> [String.UTF8View] {
        headerFields.filter { $0.name.canonicalName == name }.map(\.value.utf8)
    }
}
