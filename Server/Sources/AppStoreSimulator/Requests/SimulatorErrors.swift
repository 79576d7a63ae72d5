import AsyncHTTPClient
import EvidenceMint
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import PurchaseAPI

/// The reasons why a simulator cannot be built from its settings.
public enum SimulatorConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An allowed host is neither a name nor an address.
    case invalidHost(String)
    /// The address of the server under test is not `http://HOST:PORT`.
    case invalidServer(String)
    /// The server for notifications is not an address of HTTP or HTTPS.
    case invalidNotificationURL(String)
    /// The certificates to trust cannot be read.
    case invalidTrustFile(String, reason: String)
    /// The file of the state cannot be used.
    case database(String, reason: String)

    public var description: String {
        switch self {
        case .invalidHost(let text):
            "'\(text)' is not a host; give a name or an address without scheme and port, such as appstore.test"
        case .invalidServer(let text):
            "'\(text)' is not an address of the form http://HOST:PORT; evidence is sent over plain HTTP only"
        case .invalidNotificationURL(let text):
            "'\(text)' is not an address of the form http://HOST:PORT/PATH or https://HOST:PORT/PATH; notifications are posted to it"
        case .invalidTrustFile(let path, let reason): "\(path) has no certificates in PEM that can be read: \(reason)"
        case .database(let path, let reason): "the database \(path) \(reason)"
        }
    }
}

/// A request that the simulator refuses for a reason outside of the store.
struct SimulatorRefusal: Error {
    let status: HTTPResponse.Status
    let code: String
    let detail: String

    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
        (self.status, self.code, self.detail) = (status, code, detail)
    }
}

/// Describes a network error in words. The library's own descriptions name its functions and types.
enum NetworkFailure {
    static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { words($0.error) } ?? "the host name is unknown"
        case let error as HTTPClientError where error == .connectTimeout: "the connection timed out"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "the connection was closed"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case ChannelError.eof, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed,
            HTTPParserError.invalidEOFState:
            "the connection was closed"
        case ChannelError.connectTimeout: "the connection timed out"
        case is HTTPParserError: "the answer is not HTTP"
        default: "\(error)"
        }
    }
}

extension WrittenJSON {
    /// Checks JSON from outside before Foundation reads it, which some structures cost too much time or memory. (The
    /// core has a check of its own; the simulator never imports it.)
    ///
    /// - Throws: a `DecodingError` that says which limit the JSON exceeds.
    static func checkLimits(of json: [UInt8]) throws {
        // Each value of an object also has a name.
        let bounds = Bounds(values: 2 * SimulatorLimits.jsonValues, depth: SimulatorLimits.jsonDepth)
        switch read(json, bounds: bounds) {
        case .success(let document):
            if let excess = document.longText { throw MalformedValue.error(excess, at: []) }
        case .failure(.malformed): throw MalformedValue.error("The body is not JSON.", at: [])
        case .failure(.tooMuch(let amount)):
            throw MalformedValue.error("The JSON has \(amount), which is beyond the limit.", at: [])
        case .failure(.duplicateName): throw MalformedValue.error("Write each member of an object once.", at: [])
        }
    }

    /// The limit that a name or a text exceeds, in words.
    private var longText: String? {
        var names = Set<Int>()
        for node in nodes.indices { forEachMember(of: node) { name, _ in names.insert(name) } }
        for (place, node) in nodes.enumerated() where node.kind == .string {
            let text = bytes[node.range].dropFirst().dropLast()
            let hasEscape = text.contains(UInt8(ascii: "\\"))
            let isPlain = !text.contains { $0 >= 0x80 } && !(hasEscape && Self.hasCodeUnit(text))
            // No format that the simulator reads needs an escape in a name; an escape would allow a second spelling.
            if names.contains(place), !isPlain || hasEscape || text.count > SimulatorLimits.memberNameBytes {
                return "The name of a member is ASCII, with at most \(SimulatorLimits.memberNameBytes) bytes."
            }
            if !isPlain, text.count > SimulatorLimits.unicodeTextBytes {
                return "A text that is not ASCII has at most \(SimulatorLimits.unicodeTextBytes) bytes."
            }
        }
        return nil
    }

    /// Whether a text has an escape such as `\u0301`.
    private static func hasCodeUnit(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u") { return true }
        }
        return false
    }
}

/// The limits for data from clients, each with its reason.
enum SimulatorLimits {
    /// The longest path with its query. The longest route, an action on a transaction, has 80 bytes, and customers and
    /// apps have names of at most 255 bytes, each of which may be percent-encoded as three.
    static let targetBytes = 2048
    /// One header field. Browsers and clients send hundreds of bytes; no header that the simulator reads has more.
    static let headerFieldBytes = 8 << 10
    /// All header fields together.
    static let headerBytes = 16 << 10
    /// The size of a body of the control API, which describes one thing.
    static let controlBody = 1 << 20
    /// A body of `verifyReceipt`: more than Apple accepts.
    static let verifyReceiptBody = 17 << 20

    /// How long a client may take nothing of its answer, in seconds: the time that the server gives, too.
    static let unreadSeconds: Int64 = 30

    /// The longest name of a member. Those that the simulator knows have at most 27 bytes.
    static let memberNameBytes = 64
    /// The longest text in JSON that is not plain ASCII. Foundation normalises text to hash and compare it, which takes
    /// quadratic time for consecutive combining marks; ASCII needs no normalisation.
    static let unicodeTextBytes = 1024
    /// The depth of nesting in JSON: a product's offers are at level 4.
    static let jsonDepth = 16
    /// The number of values in JSON: for small values, Foundation needs dozens of times their size.
    static let jsonValues = 4096
}
