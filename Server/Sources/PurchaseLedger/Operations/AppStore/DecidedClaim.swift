import PurchaseVerification

public import struct Foundation.UUID

/// The decision about a claim that waited.
public struct DecidedClaim: Sendable, Equatable {
    /// The entry of the decision.
    public var id: UUID
    public var leafHash: [UInt8]
    /// Why it was refused; `nil` if it was accepted.
    public var rejection: Rejection?

    /// `accepted`, or the code of the rejection.
    public var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }
    public var verdict: Verdict { Verdict(code: code) }
    /// Whether the App Store refused it or did not answer, so that the claim changed nothing.
    package var isWithoutEffect: Bool { rejection?.isWithoutEffect ?? false }
}

extension DecidedClaim {
    /// The decision of an entry.
    init(_ entry: JournalRow) throws(LedgerStorageError) {
        let details = try entry.details.map(DecisionDetails.init(encoded:))
        self.init(
            id: entry.id, leafHash: JournalLeaf.hash(entry.leaf),
            rejection: Rejection(code: entry.code, expected: details?.decided.expected, found: details?.decided.found))
    }
}
