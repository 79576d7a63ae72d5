import PurchaseVerification

/// The verdicts of a batch, written out.
struct VerdictBatch: Sendable {
    private(set) var text: [UInt8] = []
    private(set) var verified = 0
    private(set) var rejected = 0
    private(set) var undetermined = 0

    mutating func append(_ verdict: EvidenceVerdict, _ format: any VerdictFormat, _ shown: ShownVerdicts) {
        if shown == .all || shown == .rejected && verdict.outcome != .verified { format.write(verdict, to: &text) }
        switch verdict.outcome {
        case .verified: verified += 1
        case .rejected: rejected += 1
        case .undetermined: undetermined += 1
        }
    }
}
