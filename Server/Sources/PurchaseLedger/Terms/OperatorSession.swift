public import PurchaseVerification

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
