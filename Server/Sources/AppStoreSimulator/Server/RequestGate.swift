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
                    && origin.dropFirst(scheme.utf8.count).elementsEqual(authority) { $0.small == $1.small }
            }
        }
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

/// The name of a host as the header `Host` and URLs write it (RFC 3986, 3.2.2), as bytes in lower case.
///
/// Compared byte by byte: text from a client is never hashed or compared as a `String`, which takes quadratic time for
/// hostile Unicode.
struct HostName: Equatable, Sendable {
    /// The name or address without brackets and without port.
    let bytes: [UInt8]

    /// The longest name of DNS (RFC 1035, 2.3.4).
    private static let longestName = 253

    /// Reads `name`, `name:port`, `address`, `[address]` or `[address]:port`.
    /// - Returns: nil if the text has another format.
    init?(authority: some Collection<UInt8>) {
        let name: [UInt8]
        let rest: [UInt8]
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            name = Array(authority[authority.startIndex..<end].dropFirst())
            rest = Array(authority[end...].dropFirst())
            guard Self.address(name, AF_INET6) != nil else { return nil }
        } else {
            name = Array(authority.prefix { $0 != UInt8(ascii: ":") })
            rest = Array(authority.dropFirst(name.count))
        }
        guard rest.isEmpty || Self.isPort(rest), let host = HostName(name: name) else { return nil }
        self = host
    }

    /// Accepts a name or an address, IPv6 with or without brackets.
    /// - Returns: nil if the text is neither.
    init?(name: some Collection<UInt8>) {
        var name = Array(name)
        if name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]") { name = name.dropFirst().dropLast() }
        guard (1...Self.longestName).contains(name.count) else { return nil }
        let isAddress = name.contains(UInt8(ascii: ":"))
        guard isAddress ? Self.address(name, AF_INET6) != nil : name.allSatisfy(Self.isNameByte) else { return nil }
        bytes = name.map(\.small)
    }

    /// Whether it is `localhost`, an address in 127.0.0.0/8, or `::1`.
    var isLoopback: Bool {
        if bytes == Array("localhost".utf8) { return true }
        if let address = Self.address(bytes, AF_INET) { return address.first == 127 }
        guard let address = Self.address(bytes, AF_INET6) else { return false }
        return address.dropLast().allSatisfy { $0 == 0 } && address.last == 1
    }

    /// The name for people; it is ASCII.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// A colon and digits; a port may be empty (RFC 3986, 3.2.3).
    private static func isPort(_ bytes: [UInt8]) -> Bool {
        bytes.first == UInt8(ascii: ":") && bytes.count <= 6
            && bytes.dropFirst().allSatisfy { $0.isDigit }
    }

    /// The octets of an address; nil if the text is not an address.
    private static func address(_ text: [UInt8], _ family: Int32) -> [UInt8]? {
        // The longest text of an IPv6 address has 45 characters (RFC 4291, 2.2).
        guard text.count <= 45, !text.contains(0) else { return nil }
        var octets = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
        let isAddress = (text + [0]).withUnsafeBytes { text in
            octets.withUnsafeMutableBytes { octets in
                guard let text = text.baseAddress, let octets = octets.baseAddress else { return false }
                return inet_pton(family, text.assumingMemoryBound(to: CChar.self), octets) == 1
            }
        }
        return isAddress ? octets : nil
    }
}
