import PurchaseVerification

/// How unverified evidence was stored. A rebuild does not need its bytes: it proved nothing when it was submitted.
enum UnverifiedPart: String, Codable, Sendable {
    case whole
    /// Beyond the budget: hash, size and the first kilobyte.
    case prefix

    /// Reads the part from the details of an entry; `nil` if its evidence was verified, or if it has none.
    init?(_ kind: JournalKind, details: [UInt8]) throws(LedgerStorageError) {
        let stated: UnverifiedPart?
        switch kind {
        case .claim: stated = try ClaimDetails(encoded: details).unverified
        case .decision: stated = try DecisionDetails(encoded: details).decided.unverified
        case .evidence: stated = try EvidenceDetails(encoded: details).unverified
        default: stated = nil
        }
        guard let stated else { return nil }
        self = stated
    }
}
