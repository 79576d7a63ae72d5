// The check of a request's head, and its faults.

import NIOCore
import NIOHTTP1

/// Checks the head of each request as bytes. The code after it compares and hashes text of the head as Swift strings,
/// which takes quadratic time for hostile Unicode, so only ASCII of bounded length may pass.
///
/// A refused head is replaced by one without any text of its sender, which carries the error. So the answer keeps its
/// order among earlier requests on the connection; `RequestHeadMiddleware` writes it.
final class RequestHeadHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let isReserved: Bool

    /// - Parameter isReserved: whether the connection is in the reserve: only the routes of monitors are answered,
    ///   once.
    init(isReserved: Bool = false) { self.isReserved = isReserved }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): context.fireChannelRead(wrapInboundOut(.head(checked(head))))
        case .body: context.fireChannelRead(data)
        // No code reads trailers.
        case .end: context.fireChannelRead(wrapInboundOut(.end(nil)))
        }
    }

    private func checked(_ head: HTTPRequestHead) -> HTTPRequestHead {
        if let fault = RequestHeadFault(head) ?? (isReserved ? .reserved(head) : nil) {
            var headers: HTTPHeaders = ["Host": "refused", RequestHeadFault.fieldName: fault.rawValue]
            if isReserved || Self.isLast(head) { headers.add(name: "Connection", value: "close") }
            return HTTPRequestHead(version: head.version, method: head.method, uri: "/", headers: headers)
        }
        var head = head
        // Fields that the server does not read may hold any text from a proxy; they are dropped, as is the field that
        // only this handler may add.
        if head.headers.contains(where: { !$0.value.utf8.isPlain || Self.isFault($0.name) }) {
            head.headers = HTTPHeaders(head.headers.filter { $0.value.utf8.isPlain && !Self.isFault($0.name) })
        }
        if isReserved { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        return head
    }

    private static func isFault(_ name: String) -> Bool { name.utf8.isEqual(ignoringCase: "assay-head-fault") }

    /// Whether the sender expects the connection to end with the answer (RFC 9112, 9.6). Compared as bytes.
    private static func isLast(_ head: HTTPRequestHead) -> Bool {
        head.version.minor == 0 || head.headers["connection"].contains { $0.utf8.isEqual(ignoringCase: "close") }
    }
}

/// An error in the head of a request.
enum RequestHeadFault: String {
    case targetTooLong = "target_too_long"
    case targetMalformed = "target_malformed"
    case headersTooLarge = "headers_too_large"
    case hostMalformed = "host_malformed"
    case headerMalformed = "header_malformed"
    /// Not an error in it: all connections are taken, and this one is in the reserve for monitors.
    case busy = "server_busy"

    /// The field that carries a fault to the middleware. It is dropped from requests that already have it.
    static let fieldName = "Assay-Head-Fault"

    /// The longest target that is answered, in bytes: RFC 9110, 4.1 recommends supporting at least 8,000.
    static let targetBytes = 8192
    /// The largest field, all of them together, and their number. A key or a cursor takes 2 kB at most; proxies and
    /// browsers send up to 8 kB of cookies.
    static let fieldBytes = 16_384
    static let headerBytes = 32_768
    static let fieldCount = 100
    /// RFC 1035, 2.3.4, and a port; also long enough for an IPv6 address.
    static let hostBytes = 262

    /// Fields whose values are read, here or in the libraries.
    private static let read: [StaticString] = [
        "accept-signature", "authorization", "connection", "content-digest", "content-length", "content-type", "expect",
        "idempotency-key", "if-none-match", "transfer-encoding", "x-forwarded-for",
    ]

    /// The first error of a head; `nil` if it has none.
    init?(_ head: HTTPRequestHead) {
        let target = head.uri.utf8
        guard target.count <= Self.targetBytes else {
            self = .targetTooLong
            return
        }
        guard target.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            self = .targetMalformed
            return
        }
        var (bytes, fields, hosts) = (0, 0, 0)
        for (name, value) in head.headers {
            let length = name.utf8.count + value.utf8.count
            (bytes, fields) = (bytes + length, fields + 1)
            guard length <= Self.fieldBytes, bytes <= Self.headerBytes, fields <= Self.fieldCount else {
                self = .headersTooLarge
                return
            }
            if name.utf8.isEqual(ignoringCase: "host") {
                hosts += 1
                guard hosts == 1, Self.isHost(value.utf8) else {
                    self = .hostMalformed
                    return
                }
            } else if !value.utf8.isPlain, Self.read.contains(where: { name.utf8.isEqual(ignoringCase: $0) }) {
                self = .headerMalformed
                return
            }
        }
        // RFC 9112, 3.2: a request of HTTP/1.1 has exactly one.
        guard hosts == 1 || head.version.minor == 0 else {
            self = .hostMalformed
            return
        }
        return nil
    }

    /// The fault of a request on a connection in the reserve; `nil` for a request of a monitor.
    static func reserved(_ head: HTTPRequestHead) -> RequestHeadFault? {
        let path = head.uri.utf8.prefix { $0 != UInt8(ascii: "?") }
        return path.elementsEqual("/healthz".utf8) || path.elementsEqual("/readyz".utf8) ? nil : .busy
    }

    /// `uri-host [ ":" port ]` (RFC 9110, 7.2) in the characters of RFC 3986, 3.2.2, without percent-encoding, which no
    /// name in use has. It may be empty.
    private static func isHost(_ value: String.UTF8View) -> Bool {
        value.count <= hostBytes
            && value.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}

extension String.UTF8View {
    /// Whether it is visible ASCII, spaces and tabs.
    fileprivate var isPlain: Bool { allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 } }
}
