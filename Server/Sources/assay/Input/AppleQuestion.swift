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
