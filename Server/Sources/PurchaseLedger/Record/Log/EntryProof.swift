// Proofs of entries, and what only their verification creates.
import PurchaseVerification
import TextFormats

/// The proof that a journal entry is in the log of a signed checkpoint, with the entry's details and evidence. It is
/// one JSON file and is verified without a database.
public struct EntryProof: Sendable, Equatable {
    /// The value of `format`.
    static let format = "assay-entry-proof/1"
    /// The largest file that is read: evidence of 16 MiB takes 22 MiB in base64.
    private static let largest = 32 << 20

    /// The stored bytes of the entry's leaf.
    let leaf: [UInt8]
    public let leafNumber: Int64
    let path: [MerkleHash]
    /// The signed note.
    let checkpoint: [UInt8]
    /// The details whose hash is in the leaf; `nil` after an erasure.
    let details: Details?
    /// The evidence as it was sent; `nil` if the entry has none, and after an erasure.
    public let evidence: [UInt8]?

    struct Details: Sendable, Equatable {
        let salt: [UInt8]
        let content: [UInt8]
    }

    init(
        leaf: [UInt8], leafNumber: Int64, path: [MerkleHash], checkpoint: [UInt8], details: Details?,
        evidence: [UInt8]?
    ) {
        self.leaf = leaf
        self.leafNumber = leafNumber
        self.path = path
        self.checkpoint = checkpoint
        self.details = details
        self.evidence = evidence
    }

    /// Reads the JSON of a proof without verifying it.
    ///
    /// - Throws: `malformed`.
    public init(json: [UInt8]) throws(LogError) {
        let file = try File.read(json, format: Self.format, largest: Self.largest)
        self.init(
            leaf: try File.bytes(file.leaf, "leaf"), leafNumber: file.leaf_number,
            path: try file.hashes(), checkpoint: Array(file.checkpoint.utf8),
            details: try Self.details(file),
            evidence: try file.evidence.map { text throws(LogError) in try File.bytes(text, "evidence") })
    }

    /// The JSON of the file.
    public var json: [UInt8] {
        get throws {
            try File(
                format: Self.format, checkpoint: String(decoding: checkpoint, as: UTF8.self),
                leaf: Base64Form.canonical(leaf), leaf_number: leafNumber,
                path: path.map { Base64Form.canonical($0.bytes) },
                salt: details.map { Base64Form.canonical($0.salt) },
                details: details.map { Base64Form.canonical($0.content) },
                evidence: evidence.map { Base64Form.canonical($0) }
            ).json
        }
    }

    /// The entry, which contains no outside name; `nil` for a leaf of a later version.
    public var entry: JournalLeaf? { JournalLeaf(bytes: leaf) }

    /// The hash of the leaf in the Merkle log, in hexadecimal.
    public var leafHash: String { JournalLeaf.hash(leaf).hexadecimal }

    /// The same proof without the details and the evidence, whose hashes are in the leaf: it shows that the entry is in
    /// the log and says nothing about a person.
    public var redacted: EntryProof {
        EntryProof(
            leaf: leaf, leafNumber: leafNumber, path: path, checkpoint: checkpoint, details: nil, evidence: nil)
    }

    /// The same proof without the evidence, whose hash is in the leaf.
    public var withoutEvidence: EntryProof {
        EntryProof(
            leaf: leaf, leafNumber: leafNumber, path: path, checkpoint: checkpoint, details: details, evidence: nil)
    }

    /// Verifies the checkpoint's signature, that the leaf is in its tree, and that details and evidence match the leaf.
    ///
    /// - Parameter keys: the trusted keys of logs.
    /// - Throws: `signatureInvalid`, `keyUnknown`, `proofInvalid`, `malformed`.
    public func verify(keys: [LogVerifierKey]) throws(LogError) -> ProvenEntry {
        let signed = try SignedCheckpoint(note: checkpoint, keys: keys)
        guard
            MerkleProof.isIncluded(
                .leaf(leaf), at: leafNumber, size: signed.checkpoint.size, root: signed.checkpoint.root, path: path)
        else {
            throw LogError(
                .proofInvalid,
                "the entry is not leaf \(leafNumber) of the log of \(counted(signed.checkpoint.size, "leaf", "leaves"))"
            )
        }
        guard let entry = JournalLeaf(bytes: leaf), entry.bytes == leaf else {
            throw LogError(.proofInvalid, "the leaf is not a journal entry of version \(JournalLeaf.version)")
        }
        if let details, Journal.digest(salt: details.salt, details: details.content) != entry.details {
            throw LogError(.proofInvalid, "the details do not match the entry")
        }
        if let evidence, StorableEvidence.sha256(evidence) != entry.evidence {
            throw LogError(.proofInvalid, "the evidence does not match the entry")
        }
        return ProvenEntry(
            entry: entry, leafNumber: leafNumber, checkpoint: signed.checkpoint, details: details?.content,
            evidence: evidence)
    }

    private static func details(_ file: File) throws(LogError) -> Details? {
        guard file.salt != nil || file.details != nil else { return nil }
        guard let salt = file.salt, let details = file.details else {
            throw LogError(.malformed, "a proof has both salt and details, or neither")
        }
        return Details(
            salt: try File.bytes(salt, "salt"), content: try File.bytes(details, "details"))
    }

    fileprivate struct File: ProofFile {
        var format: String
        var checkpoint: String
        var leaf: String
        var leaf_number: Int64
        var path: [String]
        var salt: String?
        var details: String?
        var evidence: String?

        enum CodingKeys: CodingKey {
            case format, checkpoint, leaf, leaf_number, path, salt, details, evidence
        }
    }
}

extension EntryProof.File {
    /// Every member is required, so that a misspelt name is an error instead of an absent value.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        format = try members.decode(String.self, forKey: .format)
        checkpoint = try members.decode(String.self, forKey: .checkpoint)
        leaf = try members.decode(String.self, forKey: .leaf)
        leaf_number = try members.decode(Int64.self, forKey: .leaf_number)
        path = try members.decode([String].self, forKey: .path)
        salt = try members.decode(String?.self, forKey: .salt)
        details = try members.decode(String?.self, forKey: .details)
        evidence = try members.decode(String?.self, forKey: .evidence)
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(format, forKey: .format)
        try members.encode(checkpoint, forKey: .checkpoint)
        try members.encode(leaf, forKey: .leaf)
        try members.encode(leaf_number, forKey: .leaf_number)
        try members.encode(path, forKey: .path)
        try members.encode(salt, forKey: .salt)
        try members.encode(details, forKey: .details)
        try members.encode(evidence, forKey: .evidence)
    }
}

/// A journal entry whose position in a signed log was verified. Only the verification of a proof creates one.
public struct ProvenEntry: Sendable, Equatable {
    public let entry: JournalLeaf
    /// Its position in the log, from 0.
    public let leafNumber: Int64
    /// The checkpoint that covers it.
    public let checkpoint: Checkpoint
    /// The details as JSON; `nil` if they were erased or left out.
    public let details: [UInt8]?
    /// The evidence as it was sent. The log proves that it was recorded; its own signature proves Apple's statement.
    public let evidence: [UInt8]?

    fileprivate init(
        entry: JournalLeaf, leafNumber: Int64, checkpoint: Checkpoint, details: [UInt8]?, evidence: [UInt8]?
    ) {
        self.entry = entry
        self.leafNumber = leafNumber
        self.checkpoint = checkpoint
        self.details = details
        self.evidence = evidence
    }
}
