import AppStoreConnection
import PurchaseAPI
import PurchaseServer
import PurchaseVerification

/// Asks Apple about verified receipts.
struct AppleQuestion: Sendable {
    let client: VerifyReceiptClient
    let sharedSecret: SharedSecret?
    let excludesOldTransactions: Bool

    /// How many receipts are asked about at the same time.
    static let atOnce = CallLimit.callsPerApp

    /// Apple's word on verified evidence; `nil` if Apple is not asked: `verifyReceipt` reads app receipts and transaction receipts
    /// only, and none of Xcode's.
    func ask(_ evidence: VerifiedEvidence, _ item: EvidenceItem) async -> AppleWord? {
        let (environment, autoRenewables): (AppStoreEnvironment?, ReceiptValidationRequest.AutoRenewables)
        switch evidence {
        case .appReceipt(let receipt):
            environment = receipt.environment
            // Without purchases, the receipt does not tell whether the customer has a subscription.
            autoRenewables =
                receipt.inAppPurchases.isEmpty
                ? .unknown : receipt.inAppPurchases.contains(where: \.isAutoRenewable) ? .present : .absent
        case .transactionReceipt(let receipt):
            environment = receipt.environment
            autoRenewables = receipt.expiresDate == nil ? .absent : .present
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification: return nil
        }
        guard environment != .xcode, let bytes = Self.bytes(item) else { return nil }
        let request = ReceiptValidationRequest(
            receipt: bytes, app: "", autoRenewables: autoRenewables, excludesOldTransactions: excludesOldTransactions,
            sharedSecret: sharedSecret)
        switch await client.validate(request) {
        case .undetermined(let reason): return AppleWord(undetermined: reason)
        case .conclusive(let reply): return AppleWord(reply, evidence)
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

/// What Apple said about a receipt, compared with what the receipt proves.
struct AppleWord: Sendable {
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
        let contradiction = Self.contradiction(reply, evidence)
        (verdict, code, message) = Self.judge(reply.status, evidence, contradiction)
        switch code {
        case nil: (expected, found) = (nil, nil)
        case "app_store_contradicts" where contradiction != nil:
            let path = contradiction?.path ?? ""
            expected = "\(path) \(contradiction?.proven ?? "absent")"
            // A reply may say anything, at any length.
            found = contradiction?.replied.map { String($0.prefix(200)) } ?? "absent"
        default: (expected, found) = ("status 0", "status \(reply.status.rawValue)")
        }
    }

    /// The codes are those of the server.
    private static func judge(
        _ status: VerifyReceiptStatus, _ evidence: VerifiedEvidence, _ contradiction: ReplyComparison.Contradiction?
    ) -> (AppleVerdict, code: String?, message: String) {
        switch (status, evidence) {
        case (.valid, _), (.expired, .transactionReceipt):
            guard contradiction != nil else { return (.verified, nil, "Apple agrees.") }
            return (.rejected, "app_store_contradicts", "Apple's reply and the receipt contradict each other.")
        case (.notAuthenticated, _), (.accountNotFound, _):
            return (.rejected, "app_store_refused", "Apple refuses the receipt.")
        case (.secretMismatch, _):
            return (
                .rejected, "app_store_secret_mismatch",
                "The shared secret is missing or not the one of the app; correct it and ask again."
            )
        default: return (.rejected, "app_store_contradicts", "Apple's reply and the receipt contradict each other.")
        }
    }

    private static func contradiction(
        _ reply: AppStoreReply, _ evidence: VerifiedEvidence
    ) -> ReplyComparison.Contradiction? {
        guard reply.status == .valid || reply.status == .expired else { return nil }
        switch evidence {
        case .appReceipt(let receipt):
            let proven = VerifyReceiptResponse.Receipt(receipt, requestDate: nil)
            return ReplyComparison(reply.response, environment: receipt.environment?.name, proven: proven)
                .contradictions.first
        case .transactionReceipt(let receipt):
            let proven = FlatReceipt(receipt)
            return ReplyComparison(reply.response, environment: receipt.environment?.name, proven: proven)
                .contradictions.first
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification: return nil
        }
    }
}
