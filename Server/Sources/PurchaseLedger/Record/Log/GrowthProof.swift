import PurchaseVerification

/// The proof that the log of a signed checkpoint extends that of an earlier one: no leaf was changed, removed or moved
/// in between (RFC 9162, 2.1.4). It is one JSON file and is verified without a database.
public struct GrowthProof: Sendable, Equatable {
    /// The value of `format`.
    static let format = "assay-growth-proof/1"
    /// The largest file that is read: two checkpoints and 63 hashes take 8 KiB.
    private static let largest = 64 << 10

    /// The signed note of the earlier checkpoint.
    let from: [UInt8]
    /// The signed note of the later one.
    let to: [UInt8]
    let path: [MerkleHash]

    init(from: [UInt8], to: [UInt8], path: [MerkleHash]) {
        (self.from, self.to, self.path) = (from, to, path)
    }

    /// Reads the JSON of a proof without verifying it.
    ///
    /// - Throws: `malformed`.
    public init(json: [UInt8]) throws(LogError) {
        let file = try File.read(json, format: Self.format, largest: Self.largest)
        self.init(from: Array(file.from.utf8), to: Array(file.to.utf8), path: try file.hashes())
    }

    /// The JSON of the file.
    public var json: [UInt8] {
        get throws {
            try File(
                format: Self.format, from: String(decoding: from, as: UTF8.self),
                to: String(decoding: to, as: UTF8.self), path: path.map { Base64Form.canonical($0.bytes) }
            ).json
        }
    }

    /// Verifies the signatures of both checkpoints, and that the later tree extends the earlier one.
    ///
    /// - Parameter keys: the trusted keys of logs.
    /// - Throws: `signatureInvalid`, `keyUnknown`, `proofInvalid`, `malformed`.
    public func verify(keys: [LogVerifierKey]) throws(LogError) -> (from: Checkpoint, to: Checkpoint) {
        let earlier = try SignedCheckpoint(note: from, keys: keys).checkpoint
        let later = try SignedCheckpoint(note: to, keys: keys).checkpoint
        guard
            MerkleProof.extends(from: (earlier.size, earlier.root), to: (later.size, later.root), path: path)
        else {
            throw LogError(
                .proofInvalid,
                "the log of \(later.size) leaves is not proven to extend that of \(earlier.size) leaves")
        }
        return (earlier, later)
    }

    private struct File: ProofFile {
        var format: String
        var from: String
        var to: String
        var path: [String]
    }
}
