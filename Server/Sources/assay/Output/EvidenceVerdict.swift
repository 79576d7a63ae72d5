import Foundation
import PurchaseVerification

/// The result for one piece of evidence.
struct EvidenceVerdict: Sendable {
    let source: String
    let line: Int?
    /// The kind of evidence; `nil` if it was not recognised.
    let evidence: EvidenceKind?
    let result: Result<VerifiedEvidence, VerificationError>
    /// What to do about evidence of Xcode that is refused.
    private(set) var advice: String?
    /// Apple's answer about it; `nil` if Apple was not asked.
    private(set) var apple: AppleAnswer?

    init(_ item: EvidenceItem, verifier: PurchaseVerifier, policies: [any PurchasePolicy]) {
        source = item.source
        line = item.line
        do throws(VerificationError) {
            let evidence = try RecognizedEvidence(item.evidence())
            let result = Result { () throws(VerificationError) in
                try verifier.verify(evidence, policies: policies)
            }.mapError { $0.at(AppStoreTime(Date())) }
            self.result = result
            if case .failure(let error) = result, [.issuerUnknown, .environmentNotAccepted].contains(error.code) {
                advice = verifier.inspect(item.evidence(), policies: []).adviceForXcode
            }
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

    /// The verdict after Apple was asked, if the evidence is genuine and Apple can be asked about it.
    func asking(_ question: AppleQuestion, _ item: EvidenceItem) async -> EvidenceVerdict {
        guard case .success(let evidence) = result else { return self }
        var verdict = self
        verdict.apple = await question.ask(evidence, item)
        return verdict
    }

    /// The outcome of all checks.
    var outcome: AppleAnswer.AppleVerdict {
        switch result {
        case .success: apple?.verdict ?? .verified
        case .failure: .rejected
        }
    }

    /// The source with its line, for people.
    var place: String { (line.map { "\(source):\($0)" } ?? source).printable }
}
