import Crypto
import Foundation
public import PurchaseVerification

/// A person who may sign in to the console.
public struct OperatorAccount: Sendable, Equatable {
    /// The name, compared byte by byte.
    public var name: String
    public var role: OperatorRole
    public var createdAt: Timestamp
    /// Whether a password was set. Without one nobody can sign in under the name.
    public var hasPassword: Bool
    /// Until when sign-ins are refused, after several wrong passwords.
    public var lockedUntil: Timestamp?
}

/// What an operator of the console may do. Each role may do what those before it may.
public enum OperatorRole: String, Sendable, CaseIterable, Comparable {
    /// Look.
    case view
    /// Grant, revoke and move purchases of single customers.
    case support
    /// Everything, operators included.
    case admin

    public static func < (left: OperatorRole, right: OperatorRole) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .view: 0
        case .support: 1
        case .admin: 2
        }
    }
}

/// A browser in which an operator is signed in.
public struct OperatorSession: Sendable, Equatable {
    /// SHA-256 of the secret in the browser's cookie.
    public var sha256: [UInt8]
    /// Its number in a list: the first bytes of the hash, in hexadecimal.
    public var id: String { Array(sha256.prefix(8)).hexadecimal }
    public var operatorName: String
    public var createdAt: Timestamp
    public var usedAt: Timestamp
    /// The address from which it was begun.
    public var address: String

    /// How long a session lasts without being used, in milliseconds: an hour.
    static let idle: Int64 = 3_600_000
    /// How long a session lasts, in milliseconds: a working day of 12 hours.
    static let longest: Int64 = 12 * 3_600_000

    /// Whether it still counts.
    func isValid(at now: Timestamp) -> Bool {
        now.millisecondsSince1970 - usedAt.millisecondsSince1970 < Self.idle
            && now.millisecondsSince1970 - createdAt.millisecondsSince1970 < Self.longest
    }
}

/// A secret that is shown once: the end of a link that sets a password, or the value of a session's cookie. The
/// database stores its SHA-256.
public struct OneTimeLink: Sendable {
    /// 256 random bits in base64url.
    public let text: String

    /// The largest text that is hashed, in bytes.
    private static let largestBytes = 64

    /// A new secret.
    public static func random() -> OneTimeLink {
        let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        let text = Base64Form(isURLSafe: true, isPadded: false).encoded(bytes)
        return OneTimeLink(text: String(decoding: text, as: UTF8.self))
    }

    private init(text: String) { self.text = text }

    /// A secret that was sent; `nil` if it is too long to be one.
    public init?(sent text: String) {
        guard text.utf8.count <= Self.largestBytes else { return nil }
        self.text = text
    }

    /// SHA-256 of the text.
    public var sha256: [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }
}

/// A line of the log of sign-ins and of changes to operators.
public struct OperatorLogLine: Sendable, Equatable {
    public var at: Timestamp
    /// The operator that it is about. It can be a name that nobody has.
    public var name: String
    public var act: Act
    /// Who did it; `nil` for the operator themselves and for commands.
    public var by: String?
    /// From which address; `nil` for commands.
    public var address: String?
    /// How often it happened; more than once only for `refused`.
    public var count: Int64 = 1

    /// What happened.
    public enum Act: String, Sendable, CaseIterable {
        case signedIn = "signed_in"
        case signedOut = "signed_out"
        case wrongPassword = "wrong_password"
        /// Sign-ins under locked or unknown names, from one address in the minute that begins at the time. The name is
        /// the last one.
        case refused
        case added
        case roleChanged = "role_changed"
        case removed
        case linkMade = "link_made"
        case passwordSet = "password_set"
        /// Events of a webhook were sent again, or it was enabled.
        case webhookChanged = "webhook_changed"
    }
}
