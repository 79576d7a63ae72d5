import Crypto
import Foundation
package import PurchaseAPI
package import PurchaseVerification

/// `verifyReceipt`, answered from the receipt alone: a request and a time in, Apple's answer out.
package struct VerifyReceiptService: Sendable {
    private let verifier: PurchaseVerifier
    private let environments: Set<AppStoreEnvironment>
    private let sharedSecret: String?
    private let sharedSecrets: [String: String]
    private let wrongSecrets: RateLimiter?

    /// - Parameters:
    ///   - sharedSecret: the required secret for receipts of every app.
    ///   - sharedSecrets: the required secrets by bundle id, if there is none for all apps.
    ///   - wrongSecrets: the limit of wrong secrets per sender and app; without it, there is no limit.
    package init(
        verifier: PurchaseVerifier, environments: Set<AppStoreEnvironment>, sharedSecret: String?,
        sharedSecrets: [String: String] = [:], wrongSecrets: RateLimiter? = nil
    ) {
        self.verifier = verifier
        self.environments = environments
        self.sharedSecret = sharedSecret
        self.sharedSecrets = sharedSecrets
        self.wrongSecrets = wrongSecrets
    }

    /// The two addresses of Apple.
    package enum Endpoint: Sendable {
        case production
        case sandbox
    }

    /// The answer, and its further headers.
    package struct Answer: Sendable {
        package let response: VerifyReceiptResponse
        /// The reason why the status is not 0.
        package let reason: VerifyReceiptReason?
        /// Whether the answer describes subscriptions as of the time when the receipt was signed.
        package var isAsOfSigning: Bool {
            response.latestReceiptInfo != nil || response.latestFlatReceiptInfo != nil
                || response.latestExpiredReceiptInfo != nil
        }
    }

    /// Answers a request body.
    ///
    /// - Parameters:
    ///   - body: the body as it came.
    ///   - endpoint: the address of the request.
    ///   - sender: the key of the sender's limits.
    ///   - now: the time of the request.
    package func answer(_ body: [UInt8], at endpoint: Endpoint, from sender: [UInt8] = [], now: AppStoreTime) -> Answer
    {
        let request: VerifyReceiptRequest
        do {
            request = try VerifyReceiptRequest(json: body) { json in
                let text = json[...]
                try StrictJSON.check(text.span)
            }
        } catch {
            return Answer(response: VerifyReceiptResponse(status: .notPosted), reason: .notJSON)
        }
        do throws(VerificationError) {
            let evidence = try RecognizedEvidence(request.receiptText)
            let policies = [EnvironmentPolicy(accepting: environments)]
            switch evidence.form {
            case .transactionReceipt:
                let verified = try verifier.verify(evidence, policies: policies)
                guard case .transactionReceipt(let receipt) = verified else { break }
                return answer(request, evidence, receipt, at: endpoint, from: sender, now: now)
            case .appReceipt, .compactJWS: break
            }
            let receipt = try verifier.verifyAppReceipt(evidence, policies: policies)
            return answer(request, evidence, receipt, at: endpoint, from: sender, now: now)
        } catch {
            return Answer(response: VerifyReceiptResponse(status: Self.status(of: error)), reason: .verification(error))
        }
    }

    private func answer(
        _ request: VerifyReceiptRequest, _ evidence: RecognizedEvidence, _ receipt: AppReceipt, at endpoint: Endpoint,
        from sender: [UInt8], now: AppStoreTime
    ) -> Answer {
        if let refusal = Self.refusal(of: receipt.environment, at: endpoint) { return refusal }
        let hasSubscriptions = receipt.inAppPurchases.contains(where: \.isAutoRenewable)
        if let refusal = refusal(of: request.password, for: receipt.bundleID, isNeeded: hasSubscriptions, sender) {
            return refusal
        }
        var response = VerifyReceiptResponse(status: .valid)
        response.environment = receipt.environment?.name
        let content = VerifyReceiptResponse.Receipt(receipt, requestDate: now)
        // Also if no purchase is a subscription: all recorded answers of 2021 to 2023 have both, contrary to Apple's
        // text.
        response.latestReceiptInfo = LatestReceiptInfo.purchases(
            of: receipt, content.inApp, excludingOld: request.excludesOldTransactions)
        response.latestReceipt = Self.base64(request, evidence)
        response.receipt = content
        return Answer(response: response, reason: nil)
    }

    private func answer(
        _ request: VerifyReceiptRequest, _ evidence: RecognizedEvidence, _ receipt: TransactionReceipt,
        at endpoint: Endpoint,
        from sender: [UInt8], now: AppStoreTime
    ) -> Answer {
        if let refusal = Self.refusal(of: receipt.environment, at: endpoint) { return refusal }
        let isSubscription = receipt.expiresDate != nil
        if let refusal = refusal(of: request.password, for: receipt.bundleID, isNeeded: isSubscription, sender) {
            return refusal
        }
        let response = VerifyReceiptResponse(receipt, base64: Self.base64(request, evidence), now: now)
        return Answer(response: response, reason: response.status == .expired ? .expired : nil)
    }

    /// The answer to a receipt at the wrong address. Local environments have no production: they are answered at the
    /// sandbox address.
    private static func refusal(of environment: AppStoreEnvironment?, at endpoint: Endpoint) -> Answer? {
        switch (endpoint, environment == .production) {
        case (.production, false):
            Answer(response: VerifyReceiptResponse(status: .sandboxReceiptAtProduction), reason: .wrongEndpoint)
        case (.sandbox, true):
            Answer(response: VerifyReceiptResponse(status: .productionReceiptAtSandbox), reason: .wrongEndpoint)
        default: nil
        }
    }

    /// The receipt in plain base64: the text that was sent, if it has this form.
    private static func base64(_ request: VerifyReceiptRequest, _ evidence: RecognizedEvidence) -> [UInt8] {
        evidence.encoding == .base64 ? request.receiptText : [UInt8](Data(evidence.bytes).base64EncodedData())
    }

    /// A secret in the request must be right; a missing secret is an error only if Apple requires it. After too many
    /// wrong secrets, the sender does not learn whether another one is right.
    private func refusal(
        of password: String?, for bundleID: String?, isNeeded: Bool, _ sender: [UInt8]
    ) -> Answer? {
        guard let sharedSecret = sharedSecret ?? bundleID.flatMap({ sharedSecrets[$0] }) else { return nil }
        let mismatch = Answer(response: VerifyReceiptResponse(status: .secretMismatch), reason: .secretMismatch)
        guard let password else { return isNeeded ? mismatch : nil }
        // Each secret has its own limit: an app with wrong settings must not block the other apps of its sender. The
        // server's own secret counts as one, for receipts of every app.
        let name = sender + [0] + Array((self.sharedSecret == nil ? bundleID ?? "" : "").utf8)
        if let wait = wrongSecrets?.wait(name) {
            return Answer(
                response: VerifyReceiptResponse(status: .temporarilyUnavailable),
                reason: .tooManyWrongSecrets(retryAfter: RateLimiter.retryAfter(wait)))
        }
        // Digests compare in constant time.
        if SHA256.hash(data: Data(password.utf8)) == SHA256.hash(data: Data(sharedSecret.utf8)) { return nil }
        _ = wrongSecrets?.take(name)
        return mismatch
    }

    /// Apple has two statuses for an invalid receipt: malformed, and not authentic.
    private static func status(of error: VerificationError) -> VerifyReceiptStatus {
        switch error.code.stage {
        case .form: .malformed
        case .authenticity, .content, .policy: .notAuthenticated
        }
    }
}
