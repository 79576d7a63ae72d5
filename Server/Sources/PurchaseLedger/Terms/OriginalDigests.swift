import Crypto
import PurchaseVerification

/// A set of original transactions as the first eight bytes of their SHA-256, sorted: short, and without the numbers.
struct OriginalDigests: Sendable, Equatable {
    private static let size = 8

    let bytes: [UInt8]

    init(_ originals: Set<ExactText>) {
        let digests = originals.map { Array(SHA256.hash(data: Array($0.string.utf8)).prefix(Self.size)) }
        bytes = digests.sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)
    }

    /// Stored digests.
    init(stored bytes: [UInt8]) { self.bytes = bytes }

    private var digests: Set<ArraySlice<UInt8>> {
        Set(
            stride(from: 0, to: bytes.count - bytes.count % Self.size, by: Self.size).map { bytes[$0..<$0 + Self.size] }
        )
    }

    /// Whether every original of another set is in this one.
    func includes(_ other: OriginalDigests) -> Bool { bytes == other.bytes || other.digests.isSubset(of: digests) }
}
