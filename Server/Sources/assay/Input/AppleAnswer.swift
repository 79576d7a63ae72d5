import AppStoreConnection
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// Apple's answer about a receipt, compared with the facts that the receipt proves.
struct AppleAnswer: Sendable {
    let verdict: AppleVerdict
    /// The code; `nil` if Apple agrees.
    let code: String?
    let expected: String?
    let found: String?
    let message: String
    /// The status of the reply, if there was one.
    let status: Int?
    /// The environment that was asked last.
    let environment: String

    enum AppleVerdict: String, Sendable {
        case verified, rejected, undetermined
    }

    init(undetermined reason: UndeterminedValidation) {
        verdict = .undetermined
        code = reason.code.rawValue
        expected = nil
        found = reason.seen
        message = "Apple's answer could not be had; ask again later."
        status = reason.status?.rawValue
        environment = reason.environment.rawValue
    }

    init(_ reply: AppStoreReply, _ evidence: VerifiedEvidence) {
        status = reply.status.rawValue
        environment = reply.environment.rawValue
        let answer = AppStoreAnswer(reply, evidence)
        verdict = answer.refusal == nil ? .verified : .rejected
        (code, expected, found) = (answer.refusal?.code, answer.refusal?.expected, answer.refusal?.found)
        message = answer.refusal?.sentence ?? "Apple agrees."
    }
}
