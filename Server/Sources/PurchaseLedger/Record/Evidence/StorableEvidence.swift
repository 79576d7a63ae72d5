import Crypto
import PurchaseVerification

/// Evidence that is ready to be stored: hashed, split and compressed, without use of the database.
public struct StorableEvidence: Sendable {
    /// SHA-256 of the bytes as they were sent.
    public let sha256: [UInt8]
    let isVerified: Bool
    let bytes: [UInt8]
    let compressed: CompressedEvidence?
    let partHashes: [[UInt8]]
    /// The number of bytes that were sent.
    var size: Int64 { Int64(bytes.count) }

    /// Hashes and compresses evidence.
    ///
    /// - Parameters:
    ///   - bytes: the evidence as it was sent.
    ///   - isVerified: whether its signature was verified. Certificates of other evidence do not become shared parts.
    public init(_ bytes: [UInt8], isVerified: Bool) {
        sha256 = Self.sha256(bytes)
        self.bytes = bytes
        self.isVerified = isVerified
        compressed =
            bytes.count > EvidenceStore.largest ? nil : CompressedEvidence(bytes, sharesParts: isVerified)
        partHashes = compressed?.parts.map { Self.sha256($0) } ?? []
    }

    /// The hash that identifies evidence.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}
