import PurchaseLedger
import PurchaseVerification

import struct Foundation.UUID

/// Everything that the record has about a customer or a transaction: what happened when, the evidence with its checks
/// and certificate path, and the proof that each entry is in the log. It is shown to a bank, an app store or a customer
/// who asks for their data.
public struct DisputePack: Sendable {
    /// What a pack is about.
    public enum Subject: Sendable, Equatable {
        case customer(String)
        case transaction(String)
    }

    /// Nothing is recorded about the transaction.
    public struct NothingRecorded: Error {}

    /// The most entries of a pack. More are a customer of a test, or an attack; the page says that there are more.
    public static let mostEntries = 1000
    /// The most bytes of evidence of a pack, so that a page stays one that a browser opens: it has evidence twice,
    /// alone and in the proof, in base64. Later evidence is named by its hash.
    public static let mostEvidence = 16 << 20

    /// An entry of the journal.
    struct Entry: Sendable {
        let id: UUID
        let at: Timestamp
        /// What happened, as sentences: of an entry with several events, one for each.
        var texts: [String]
        var code: String?
        var proof: EntryProof?
        var inspection: EvidenceInspection?
        var evidenceSHA256: String?
        /// The evidence, unless the pack is redacted or has too much of it.
        var evidence: [UInt8]?

        var name: String { id.uuidString.lowercased() }
    }

    let app: String
    let subject: Subject
    let isRedacted: Bool
    let madeAt: Timestamp
    let purchases: [RecordedPurchase]
    /// The oldest first.
    let entries: [Entry]
    let isComplete: Bool
    /// The signed checkpoint that the proofs are for; `nil` if nothing was signed yet.
    let checkpoint: String?

    /// A file beside the page.
    public struct File: Sendable, Equatable {
        /// Its path below the folder of the pack.
        public let path: String
        public let bytes: [UInt8]

        public init(path: String, bytes: [UInt8]) { (self.path, self.bytes) = (path, bytes) }
    }

    /// The proofs and the evidence as files of their own.
    ///
    /// - Throws: if a proof cannot be written as JSON.
    public func files() throws -> [File] {
        var files: [File] = []
        var hashes: Set<String> = []
        for entry in entries {
            if let proof = entry.proof { files.append(File(path: entry.proofPath, bytes: try proof.json)) }
            if let evidence = entry.evidence, let path = entry.evidencePath, hashes.insert(path).inserted {
                files.append(File(path: path, bytes: evidence))
            }
        }
        return files
    }
}

extension DisputePack.Entry {
    var proofPath: String { "proofs/\(name).json" }
    var evidencePath: String? { evidence == nil ? nil : evidenceSHA256.map { "evidence/\($0)" } }
}
