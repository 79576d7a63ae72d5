public import Foundation
public import PurchaseVerification
import TextFormats

/// A claim as recorded in the journal.
public struct SubmissionRecord: Sendable, Equatable {
    public var submissionID: UUID
    public var receivedAt: Timestamp
    public var app: String
    /// `accepted`, or the code of the rejection.
    public var code: String
    public var verdict: Verdict { Verdict(code: code) }
    public var isReplayed: Bool
    public var isRestore: Bool
    public var keyID: String?
    public var sourceAddress: String?
    public var customerID: String?
    public var orderID: String?
    public var productID: String?
    public var transactionID: String?
    public var quantity: Int64?
    public var evidenceKind: String?
    /// The names of members of the request that the server did not know.
    public var unknownMembers: [String]?
    public var expected: String?
    public var found: String?
    /// The number of refusals that the entry stands for; `nil` for a single one.
    public var refusals: Int64?
    /// SHA-256 of the evidence, in hexadecimal; of several refusals, of the last one.
    public var evidenceSHA256: String?
    /// The size of the evidence that was sent, and how much of it is stored; `nil` in a list.
    public var evidenceSize: Int64?
    public var evidenceKept: StoredPart?
    /// The hash of the leaf in the Merkle log, in hexadecimal.
    public var leafHash: String
    /// The number of the leaf; `nil` while it is pending, and in lists.
    public var leafNumber: Int64?
    /// Whether the details were erased.
    public var isErased: Bool
    /// The decision about a claim that waited for the App Store.
    public var decision: DecidedClaim?
    /// The claim that a decision is about.
    public var decides: UUID?
    /// The entry of the App Store's answer, whose evidence is the reply.
    public var appStoreAnswer: UUID?
    /// When the App Store is asked again.
    public var nextAttemptAt: Timestamp?
}

extension SubmissionRecord {
    init(_ row: JournalRow, app: String, _ reader: LedgerTransaction) throws {
        guard let leaf = JournalLeaf(bytes: row.leaf) else {
            throw LedgerStorageError(.corrupt, "the leaf of entry \(row.key) cannot be read")
        }
        if leaf.kind == .refusals {
            let refusals = try row.details.map(RefusalsDetails.init(encoded:))
            self.init(
                submissionID: row.id, receivedAt: leaf.at, app: app, code: leaf.code, isReplayed: false,
                isRestore: refusals?.since == nil, keyID: refusals?.keyID, sourceAddress: refusals?.sourceAddress,
                customerID: refusals?.customer, found: refusals?.sentence, refusals: refusals?.count,
                evidenceSHA256: refusals?.since == nil ? nil : refusals?.hashes.last,
                leafHash: JournalLeaf.hash(row.leaf).hexadecimal, isErased: refusals == nil)
            return
        }
        let decision =
            leaf.kind == .decision ? try row.details.map(DecisionDetails.init(encoded:)) : nil
        let details =
            try decision?.decided ?? (leaf.kind == .claim ? row.details.map(ClaimDetails.init(encoded:)) : nil)
        self.init(
            submissionID: row.id, receivedAt: leaf.at, app: app, code: leaf.code,
            isReplayed: details?.replayed ?? false,
            isRestore: details?.isRestore ?? false, keyID: details?.keyID, sourceAddress: details?.sourceAddress,
            customerID: details?.customer, orderID: details?.order, productID: details?.productID,
            transactionID: details?.transactionID, quantity: details?.quantity, evidenceKind: details?.evidenceKind,
            expected: details?.expected, found: details?.found, evidenceSHA256: leaf.evidence?.hexadecimal,
            leafHash: JournalLeaf.hash(row.leaf).hexadecimal, isErased: details == nil)
        unknownMembers = details?.unknownMembers
        decides = decision.flatMap { UUID(uuidString: $0.claim) }
        guard details?.appStore != nil,
            let asked = try AppStoreClaimsTable(connection: reader.connection).row(row.key)
        else { return }
        self.decision = try DecisionOfClaim(row.id).answer(reader)
        nextAttemptAt = asked.nextAt
        let journal = JournalTable(connection: reader.connection)
        appStoreAnswer = try asked.answerEntry.flatMap { key throws(LedgerStorageError) in try journal.row(key: key)?.id
        }
    }
}

extension RefusalsDetails {
    /// What was refused, as a sentence.
    fileprivate var sentence: String {
        guard let since else { return counted(count, "refused piece") + " of evidence" }
        return "\(counted(count, "refusal")) beyond the daily budget since \(Timestamp(millisecondsSince1970: since))"
    }
}
