public import PurchaseVerification

public import struct Foundation.UUID

/// The bytes of a journal entry that the Merkle log covers, version 1. All numbers are big-endian:
///
///     version       1 byte, 1
///     entry id      16 bytes
///     time          8 bytes, milliseconds since 1970, signed
///     kind          1 byte (`JournalKind`)
///     app           1 byte length, name in UTF-8
///     customer      16 bytes, the random reference; zero if there is none
///     order         16 bytes; zero if there is none
///     code          1 byte length, ASCII
///     evidence      32 bytes, SHA-256; zero if there is none
///     details       32 bytes, SHA-256(salt ‖ details)
///
/// It contains no database number and no outside name, so it can be published and stays valid after a change of engine
/// and the erasure of a customer.
public struct JournalLeaf: Sendable, Equatable {
    /// The version of new leaves.
    public static let version: UInt8 = 1

    public var id: UUID
    public var at: Timestamp
    public var kind: JournalKind
    public var app: String
    public var customer: UUID?
    public var order: UUID?
    public var code: String
    /// SHA-256 of the evidence.
    public var evidence: [UInt8]?
    /// SHA-256 of salt and details.
    public var details: [UInt8]

    /// Creates a leaf.
    public init(
        id: UUID, at: Timestamp, kind: JournalKind, app: String, customer: UUID?, order: UUID?, code: String,
        evidence: [UInt8]?, details: [UInt8]
    ) {
        self.id = id
        self.at = at
        self.kind = kind
        self.app = app
        self.customer = customer
        self.order = order
        self.code = code
        self.evidence = evidence
        self.details = details
    }

    /// The stored bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = [Self.version]
        bytes.reserveCapacity(160)
        bytes += id.bytes
        let time = UInt64(bitPattern: at.millisecondsSince1970)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: time >> UInt64(shift)))
        }
        bytes.append(kind.rawValue)
        Self.append(counted: app.utf8, to: &bytes)
        bytes += customer?.bytes ?? Self.noID
        bytes += order?.bytes ?? Self.noID
        Self.append(counted: code.utf8, to: &bytes)
        bytes += evidence ?? Self.noHash
        bytes += details
        return bytes
    }

    /// Reads a leaf; `nil` for anything except the exact bytes that version 1 writes.
    public init?(bytes: [UInt8]) {
        var rest = bytes[...]
        func take(_ count: Int) -> [UInt8]? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func text() -> String? {
            guard let count = take(1)?.first, let content = take(Int(count)) else { return nil }
            return String(validating: content, as: UTF8.self)
        }
        guard take(1)?.first == Self.version, let id = take(16).flatMap(UUID.init(bytes:)), let time = take(8),
            let kind = take(1)?.first.flatMap(JournalKind.init(rawValue:)), let app = text(),
            let customer = take(16), let order = take(16), let code = text(), let evidence = take(32),
            let details = take(32), rest.isEmpty
        else { return nil }
        let milliseconds = time.reduce(0) { $0 << 8 | UInt64($1) }
        self.init(
            id: id, at: Timestamp(millisecondsSince1970: Int64(bitPattern: milliseconds)), kind: kind, app: app,
            customer: customer == Self.noID ? nil : UUID(bytes: customer),
            order: order == Self.noID ? nil : UUID(bytes: order), code: code,
            evidence: evidence == Self.noHash ? nil : evidence, details: details)
    }

    /// The leaf hash of the Merkle log (RFC 9162, 2.1.1).
    static func hash(_ leaf: [UInt8]) -> [UInt8] { MerkleHash.leaf(leaf).bytes }

    private static let noID = [UInt8](repeating: 0, count: 16)
    private static let noHash = [UInt8](repeating: 0, count: 32)

    /// The registration of apps and codes limits their names to fewer bytes than this.
    private static func append(counted text: String.UTF8View, to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: min(text.count, 255)))
        bytes += text.prefix(255)
    }
}
