import AppStoreConnection
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// Asks Apple about verified receipts.
struct AppleQuestion: Sendable {
    let client: VerifyReceiptClient
    let sharedSecret: SharedSecret?
    let excludesOldTransactions: Bool

    /// The number of receipts that Apple is asked about at the same time.
    static let atOnce = CallLimit.callsPerApp

    /// Apple's answer about verified evidence; `nil` if Apple is not asked: `verifyReceipt` reads only app receipts and
    /// transaction receipts, except Xcode's.
    func ask(_ evidence: VerifiedEvidence, _ item: EvidenceItem) async -> AppleAnswer? {
        guard let bytes = Self.bytes(item),
            let question = ReceiptQuestion(
                evidence, bytes: bytes, app: "", excludesOldTransactions: excludesOldTransactions,
                sharedSecret: sharedSecret)
        else { return nil }
        switch await client.validate(question.request) {
        case .undetermined(let reason): return AppleAnswer(undetermined: reason)
        case .conclusive(let reply): return AppleAnswer(reply, evidence)
        }
    }

    /// Closes the connections.
    func end() async throws { try await client.shutdown() }

    private static func bytes(_ item: EvidenceItem) -> [UInt8]? {
        do throws(VerificationError) {
            return try Evidence(item.evidence()).bytes
        } catch {
            // Verified evidence has been read before.
            return nil
        }
    }
}

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
