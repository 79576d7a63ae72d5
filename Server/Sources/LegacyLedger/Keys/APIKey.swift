import Crypto
import Foundation
public import PurchaseVerification

/// A key to the HTTP API. What the ledger keeps cannot be used to call it: the secret is kept as its SHA-256.
public struct APIKey: Sendable, Equatable {
    /// Its name in the record and in logs; no secret.
    public var id: String
    /// The app that it belongs to.
    public var app: String
    /// The operator's words for it.
    public var name: String
    public var scopes: Set<APIKeyScope>
    public var createdAt: Timestamp
    public var revokedAt: Timestamp?

    /// Whether it may do what a scope is for.
    public func allows(_ scope: APIKeyScope) -> Bool { scopes.contains(scope) || scopes.contains(.admin) }
}

/// What a key is for.
public enum APIKeyScope: String, Sendable, CaseIterable {
    /// Apps: submit purchases.
    case client
    /// The operator's servers: orders, entitlements, balances, the record.
    case backend
    /// Everything.
    case admin
}

/// A key as its holder writes it: `assay_`, its id, `_`, and 256 random bits in base64url.
public struct APIKeyText: Sendable {
    /// The part that names the key.
    public let id: String
    /// SHA-256 of the whole text.
    let digest: SHA256.Digest
    /// The text; only a new key has it, and it is shown once.
    public let text: String

    /// A new key.
    static func random() -> APIKeyText {
        let id = hexadecimal(Self.randomBytes(8))
        let secret = Data(Self.randomBytes(32)).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return APIKeyText(id: id, text: "assay_\(id)_\(secret)")
    }

    /// The most bytes that are read of a key that somebody sent; one of ours has 65.
    public static let largestBytes = 128

    /// A key that somebody sent; `nil` if it does not have the format of one.
    public init?(_ text: String) {
        // Bounded and ASCII first: anybody sends it.
        guard text.utf8.count <= Self.largestBytes, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = text.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "assay", parts[1].utf8.count == 16 else { return nil }
        self.init(id: String(parts[1]), text: text)
    }

    private init(id: String, text: String) {
        self.id = id
        self.text = text
        digest = SHA256.hash(data: Data(text.utf8))
    }

    private static func randomBytes(_ count: Int) -> [UInt8] {
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
    }
}

extension LedgerTransaction {
    /// Makes a key.
    ///
    /// - Returns: the key, and its text, which cannot be had again.
    public func createKey(
        app: String, name: String, scopes: Set<APIKeyScope>
    ) throws(LedgerStorageError) -> (key: APIKey, text: String) {
        let text = APIKeyText.random()
        let key = APIKey(id: text.id, app: app, name: name, scopes: scopes, createdAt: now, revokedAt: nil)
        try connection.execute(
            """
            INSERT INTO api_keys (key_id, app, name, scopes, created_at, secret_sha256) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            [
                .text(key.id), .text(app), .text(name), .text(scopes.map(\.rawValue).sorted().joined(separator: ",")),
                .time(now), .text(hexadecimal(text.digest)),
            ])
        try record(
            LedgerEvent(.keyCreated, at: now, app: app, detail: key.terms(secretSHA256: hexadecimal(text.digest))))
        return (key, text.text)
    }

    /// Revokes a key at once. Revoking it again changes nothing.
    ///
    /// - Returns: the key, or `nil` if there is none of that id.
    public func revokeKey(_ id: String) throws(LedgerStorageError) -> APIKey? {
        let changed = try connection.execute(
            "UPDATE api_keys SET revoked_at = ?1 WHERE key_id = ?2 AND revoked_at IS NULL", [.time(now), .text(id)])
        let key = try reader.keys().first { $0.id.isSame(as: id) }
        if let key, changed == 1 { try record(LedgerEvent(.keyRevoked, at: now, app: key.app, detail: key.id)) }
        return key
    }
}

extension LedgerReader {
    /// All keys, oldest first, without their secrets.
    public func keys() throws(LedgerStorageError) -> [APIKey] {
        var keys: [APIKey] = []
        for row in try connection.rows("SELECT \(APIKey.columns) FROM api_keys ORDER BY created_at, key_id", []) {
            keys.append(try APIKey(row))
        }
        return keys
    }

    /// The key of a text that somebody sent, if it is one and was not revoked.
    public func key(_ sent: APIKeyText) throws(LedgerStorageError) -> APIKey? {
        let rows = try connection.rows(
            "SELECT \(APIKey.columns), secret_sha256 FROM api_keys WHERE key_id = ?1", [.text(sent.id)])
        guard let row = rows.first, case .text(let secret)? = row.values.last else { return nil }
        let key = try APIKey(row)
        // The comparison of a digest takes the same time wherever the two differ.
        return sent.digest == bytes(hexadecimal: secret) && key.revokedAt == nil ? key : nil
    }
}

extension APIKey {
    static let columns = "key_id, app, name, scopes, created_at, revoked_at"

    /// What never changes, in words: the event of the key has it, so that the audit can compare.
    func terms(secretSHA256: String) -> String {
        "\(id), \(scopes.map(\.rawValue).sorted().joined(separator: "+")), secret SHA-256 \(secretSHA256), \(name)"
    }

    init(_ row: LedgerRow) throws(LedgerStorageError) {
        var reader = RowReader(row)
        id = try reader.text()
        app = try reader.text()
        name = try reader.text()
        scopes = Set(try reader.text().split(separator: ",").compactMap { APIKeyScope(rawValue: String($0)) })
        createdAt = try reader.time()
        revokedAt = try reader.optionalTime()
    }
}

/// The bytes of hexadecimal digits; empty if these are none.
private func bytes(hexadecimal text: String) -> Data {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count % 2 == 0, digits.count == text.utf8.count else { return Data() }
    return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
}
