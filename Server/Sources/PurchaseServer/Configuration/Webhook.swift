import Crypto
import Foundation
public import PurchaseLedger
import PurchaseVerification

/// A receiver of an app's events, or of its notifications, as the settings describe it.
public struct Webhook: Sendable, Equatable {
    /// The app whose events it gets.
    public let app: String
    /// What it gets.
    public let stream: WebhookStream
    /// The address that they are sent to.
    public let url: WebhookURL
    /// The secrets that sign; two during a rotation. Notifications are forwarded as they are, so nothing signs them
    /// again.
    public let secrets: [WebhookSecret]
    /// The hosts for which `http` and addresses that are not public are allowed.
    public let allowedHosts: Set<String>
    /// Certificates in PEM that are trusted instead of the system's.
    public let trust: [UInt8]?
    /// Those of a user of NATS.
    let credentials: NATSCredentials?

    /// The most secrets: the present one, and the one before or after it.
    public static let secretLimit = 2

    /// A receiver.
    public init(
        app: String, _ stream: WebhookStream = .events, url: WebhookURL, secrets: [WebhookSecret],
        allowedHosts: Set<String> = [], trust: [UInt8]? = nil, credentials: NATSCredentials? = nil
    ) {
        (self.app, self.stream, self.url, self.secrets) = (app, stream, url, secrets)
        (self.allowedHosts, self.trust, self.credentials) = (allowedHosts, trust, credentials)
    }

    /// Whether the 4 or 16 bytes of an address are those of one that may be connected to.
    func allows(_ address: [UInt8]) -> Bool {
        if allowedHosts.contains(url.host) { return true }
        return url.isLocalNATS ? PublicAddress.isLoopback(address) : PublicAddress.contains(address)
    }

    /// The environment whose notifications are forwarded to it; `nil` if it gets events.
    var forwardedEnvironment: AppStoreEnvironment? {
        if case .notifications(let environment) = stream { environment } else { nil }
    }
}

/// The URL of a receiver: `https` or, for a subject of NATS, `tls`; without TLS, `http` and `nats`.
public struct WebhookURL: Sendable, Equatable {
    /// The URL as written in the settings.
    public let text: String
    /// The host in lower-case letters, without the brackets of an IPv6 address.
    public let host: String
    public let port: Int
    /// Path and query, or the subject.
    let target: String
    let isSecure: Bool
    let isNATS: Bool

    private static let ports = ["https": 443, "http": 80, "tls": 4222, "nats": 4222]

    /// The longest URL, in bytes.
    static let limit = 2048

    /// A URL in ASCII, with a host, without user and fragment; `nil` for anything else. One of NATS has a subject that
    /// messages can be published to, and no query.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.limit, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let port = Self.ports[scheme], let host = parts.percentEncodedHost, !host.isEmpty,
            !host.utf8.contains(UInt8(ascii: "%")), parts.user == nil, parts.password == nil, parts.fragment == nil,
            parts.port.map({ (1...65_535).contains($0) }) ?? true
        else { return nil }
        self.text = text
        isSecure = ["https", "tls"].contains(scheme)
        isNATS = port == Self.ports["nats"]
        self.host = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        self.port = parts.port ?? port
        guard !isNATS else {
            target = String(parts.percentEncodedPath.dropFirst())
            guard parts.query == nil, Self.isSubject(target) else { return nil }
            return
        }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        target = path + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    /// Whether requests to both go to the same receiver, however host and port are written.
    func isSame(as other: WebhookURL) -> Bool {
        (isSecure, isNATS, host, port, target)
            == (other.isSecure, other.isNATS, other.host, other.port, other.target)
    }

    /// Whether it names a server of NATS on this machine.
    var isLocalNATS: Bool {
        isNATS && (host == "localhost" || AddressRange.bytes(of: host).map(PublicAddress.isLoopback) == true)
    }

    /// Tokens with periods between them, without wildcards; those that begin with `$` or `_INBOX` are the server's.
    private static func isSubject(_ text: String) -> Bool {
        !text.hasPrefix("$") && !text.hasPrefix("_INBOX.") && !text.contains { "%*>".contains($0) }
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
    }

    /// The value of the header `Host`.
    var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}

/// A secret of the Standard Webhooks form: `whsec_` and 24 to 64 bytes in base64. Its text is never printed.
public struct WebhookSecret: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]

    private static let prefix = "whsec_"
    /// Standard Webhooks, "Signature scheme": between 24 and 64 bytes.
    private static let sizes = 24...64

    /// A secret; `nil` for a text of another form.
    public init?(_ text: String) {
        guard text.utf8.starts(with: Self.prefix.utf8),
            let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))), Self.sizes.contains(data.count)
        else { return nil }
        bytes = [UInt8](data)
    }

    public var description: String { "whsec_…" }

    /// Base64 of the HMAC-SHA256 of a message: its id, its time and its body, with a period between them.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        var hash = HMAC<SHA256>(key: SymmetricKey(data: bytes))
        hash.update(data: Data("\(id).\(timestamp).".utf8))
        hash.update(data: body)
        return Data(hash.finalize()).base64EncodedString()
    }
}

/// The JWT of a NATS user, and the key that proves it: the content of a `.creds` file.
public struct NATSCredentials: Sendable, Equatable, CustomStringConvertible {
    let token: String
    private let seed: [UInt8]

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    /// The first two bytes of the seed of a user (https://github.com/nats-io/nkeys): its text begins with `SU`.
    private static let userPrefix: [UInt8] = [149, 0]

    /// - Returns: `nil` for a text of another form.
    public init?(_ text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        func line(after title: String) -> String? {
            guard let title = lines.firstIndex(where: { $0.contains("BEGIN \(title)") }) else { return nil }
            return lines.dropFirst(title + 1).first
        }
        guard let token = line(after: "NATS USER JWT"), token.split(separator: ".").count == 3,
            let seed = line(after: "USER NKEY SEED").flatMap({ Self.seed($0) })
        else { return nil }
        (self.token, self.seed) = (token, seed)
    }

    public var description: String { "NATS credentials" }

    /// The signature of the text that a server sent, in base64url.
    package func signature(of nonce: String) throws -> String {
        try Curve25519.Signing.PrivateKey(rawRepresentation: seed).signature(for: Data(nonce.utf8))
            .base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Two bytes for the kind, 32 of the seed and two of a CRC-16, in base32.
    private static func seed(_ text: String) -> [UInt8]? {
        var (bytes, bits, count) = ([UInt8](), 0, 0)
        for letter in text.utf8 {
            guard let value = alphabet.firstIndex(of: letter) else { return nil }
            (bits, count) = ((bits << 5 | value) & 0xFFF, count + 5)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        guard bytes.count == 36, bytes.starts(with: userPrefix) else { return nil }
        var sum: UInt16 = 0
        for byte in bytes.prefix(34) {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
        guard UInt16(bytes[34]) | UInt16(bytes[35]) << 8 == sum else { return nil }
        return Array(bytes[2..<34])
    }
}
