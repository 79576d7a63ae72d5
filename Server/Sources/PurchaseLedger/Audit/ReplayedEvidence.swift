import PurchaseVerification

/// The evidence of an entry.
struct ReplayedEvidence: Sendable {
    let row: EvidenceRow
    /// As it was sent; `nil` if it was erased, changed or stored in part.
    let bytes: [UInt8]?
}
