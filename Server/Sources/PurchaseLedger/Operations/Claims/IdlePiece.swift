/// A genuine piece of a restore that tells nothing new and gives the customer nothing: every purchase in it belongs to
/// somebody else, or it repeats an earlier piece of the request. The daily budget pays for its entry; beyond it, the
/// piece is only counted.
struct IdlePiece: Sendable {
    let index: Int
    let sha256: [UInt8]
    /// Why the piece as a whole is refused.
    let rejection: Rejection?
    /// The answers about its purchases.
    let purchases: [RestoredPurchase]
    /// The code under which it is counted.
    let code: String

    /// Adds the piece to an answer, without an entry.
    func answer(_ outcome: inout RestoreOutcome) {
        outcome.counted += 1
        outcome.purchases += purchases
        guard let rejection else { return }
        outcome.refused.append(
            RefusedEvidence(
                submissionID: nil, leafHash: [], index: index, rejection: rejection,
                disposition: rejection.disposition(hasPurchase: false)))
    }
}
