import PurchaseServer
import PurchaseVerification

/// The result for one piece of evidence.
struct Verdict: Sendable {
    let source: String
    let line: Int?
    /// The kind of evidence; `nil` if it was not recognised.
    let evidence: EvidenceKind?
    let result: Result<VerifiedEvidence, VerificationError>

    init(_ item: EvidenceItem, verifier: PurchaseVerifier, policies: [any PurchasePolicy]) {
        source = item.source
        line = item.line
        do throws(VerificationError) {
            let evidence = try Evidence(item.evidence())
            let result = Result { () throws(VerificationError) in
                try verifier.verify(evidence, policies: policies)
            }
            self.result = result
            // Verified evidence carries its kind; otherwise it is read from the claims.
            if case .success(let verified) = result {
                self.evidence = verified.kind
            } else {
                self.evidence = evidence.kind
            }
        } catch {
            evidence = nil
            result = .failure(error)
        }
    }

    var isVerified: Bool {
        switch result {
        case .success: true
        case .failure: false
        }
    }

    /// The source with its line, for people.
    var place: String { (line.map { "\(source):\($0)" } ?? source).printable }
}

/// The verdicts that are written.
enum ShownVerdicts {
    case all, rejected, none
}

/// The verdicts of a batch, written out.
struct VerdictBatch: Sendable {
    private(set) var text: [UInt8] = []
    private(set) var verified = 0
    private(set) var rejected = 0

    mutating func append(_ verdict: Verdict, _ format: any VerdictFormat, _ shown: ShownVerdicts) {
        if shown == .all || shown == .rejected && !verdict.isVerified { format.write(verdict, to: &text) }
        if verdict.isVerified { verified += 1 } else { rejected += 1 }
    }
}

/// The number of verdicts of each kind.
struct VerdictSummary {
    private(set) var verified = 0
    private(set) var rejected = 0

    var count: Int { verified + rejected }

    mutating func add(_ batch: VerdictBatch) {
        verified += batch.verified
        rejected += batch.rejected
    }
}
