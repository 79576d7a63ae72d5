import Crypto
import Foundation
package import PurchaseAPI
package import PurchaseLedger
package import PurchaseVerification

/// `verifyReceipt`, answered from the receipt and from what the ledger knows: a request, a state and a time in, Apple's
/// answer out.
package struct VerifyReceiptService: Sendable {
    private let verifier: PurchaseVerifier
    private let environments: Set<AppStoreEnvironment>
    private let sharedSecret: String?
    private let sharedSecrets: [String: String]
    private let wrongSecrets: RateLimiter?
    private let dropIn: [String: DropInSettings]

    /// - Parameters:
    ///   - sharedSecret: the required secret for receipts of every app.
    ///   - sharedSecrets: the required secrets by bundle id, if there is none for all apps.
    ///   - wrongSecrets: the limit of wrong secrets per sender and app; without it, there is no limit.
    ///   - dropIn: the settings of the apps that the ledger knows, by bundle id.
    package init(
        verifier: PurchaseVerifier, environments: Set<AppStoreEnvironment>, sharedSecret: String?,
        sharedSecrets: [String: String] = [:], wrongSecrets: RateLimiter? = nil,
        dropIn: [String: DropInSettings] = [:]
    ) {
        self.dropIn = dropIn
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
        /// Whether signed news are known about the latest period of every subscription in the answer.
        package var isLive = false
        /// The original transactions of the other subscriptions, in the order of the receipt.
        var unconfirmed: [String] = []
        /// What the answer describes, for the header `Assay-State`; `nil` if it describes no purchases.
        package var state: AnswerState? {
            guard response.receipt != nil || response.flatReceipt != nil else { return nil }
            return isLive ? .live : .asOfSigning
        }
    }

    /// The time for which an answer holds.
    package enum AnswerState: Sendable {
        /// Now, as far as the App Store has signed it.
        case live
        /// When the receipt was signed, with what is known of later.
        case asOfSigning
    }

    /// A request with its evidence.
    struct Sent: Sendable {
        let request: VerifyReceiptRequest
        let evidence: RecognizedEvidence
        let now: AppStoreTime
        let settings: DropInSettings?
    }

    /// Answers a request body from the receipt alone.
    ///
    /// - Parameters:
    ///   - body: the body as it came.
    ///   - endpoint: the address of the request.
    ///   - sender: the key of the sender's limits.
    ///   - now: the time of the request.
    package func answer(_ body: [UInt8], at endpoint: Endpoint, from sender: [UInt8] = [], now: AppStoreTime) -> Answer
    {
        prepare(body, at: endpoint, from: sender, now: now).answer
    }

    /// Answers a request body from the receipt alone, and says what the ledger may know besides.
    package func prepare(
        _ body: [UInt8], at endpoint: Endpoint, from sender: [UInt8] = [], now: AppStoreTime
    ) -> PreparedAnswer {
        let request: VerifyReceiptRequest
        do {
            request = try VerifyReceiptRequest(json: body) { json in
                let text = json[...]
                try StrictJSON.check(text.span)
            }
        } catch {
            return PreparedAnswer(Answer(response: VerifyReceiptResponse(status: .notPosted), reason: .notJSON))
        }
        let start = ContinuousClock.now
        var kind: EvidenceKind?
        do throws(VerificationError) {
            let evidence = try RecognizedEvidence(request.receiptText)
            kind =
                switch evidence.form {
                case .appReceipt: .appReceipt
                case .transactionReceipt: .transactionReceipt
                case .compactJWS: .signedTransaction
                }
            let policies = [EnvironmentPolicy(accepting: environments)]
            switch evidence.form {
            case .transactionReceipt:
                let verified = try verifier.verify(evidence, policies: policies)
                guard case .transactionReceipt(let receipt) = verified else { break }
                let duration = ContinuousClock.now - start
                let sent = sent(request, evidence, receipt.bundleID, now)
                var prepared = prepare(sent, receipt, at: endpoint, from: sender)
                prepared.verification = (kind, nil, duration)
                prepared.bundleID = receipt.bundleID
                return prepared
            case .compactJWS:
                let transaction = try verifier.verifySignedTransaction(evidence, policies: policies)
                let duration = ContinuousClock.now - start
                let sent = sent(request, evidence, transaction.bundleID, now)
                var prepared = try prepare(sent, transaction, at: endpoint, from: sender)
                prepared.verification = (kind, nil, duration)
                prepared.bundleID = transaction.bundleID
                return prepared
            case .appReceipt: break
            }
            let receipt = try verifier.verifyAppReceipt(evidence, policies: policies)
            let duration = ContinuousClock.now - start
            var prepared = prepare(
                sent(request, evidence, receipt.bundleID, now), receipt, at: endpoint, from: sender)
            prepared.verification = (kind, nil, duration)
            prepared.bundleID = receipt.bundleID
            return prepared
        } catch {
            let error = error.at(now)
            var refused = PreparedAnswer(
                Answer(response: VerifyReceiptResponse(status: Self.status(of: error)), reason: .verification(error)))
            refused.evidence = request.receiptText
            refused.verification = (kind, error.code, .now - start)
            return refused
        }
    }

    private func sent(
        _ request: VerifyReceiptRequest, _ evidence: RecognizedEvidence, _ bundleID: String?, _ now: AppStoreTime
    ) -> Sent {
        // Compared byte by byte: a dictionary of strings is looked up by canonical equivalence.
        let place = bundleID.flatMap { dropIn.index(forKey: $0) }
        let settings = place.flatMap { ExactText(dropIn[$0].key) == ExactText(bundleID ?? "") ? dropIn[$0].value : nil }
        return Sent(request: request, evidence: evidence, now: now, settings: settings)
    }

    private func prepare(
        _ sent: Sent, _ receipt: AppReceipt, at endpoint: Endpoint, from sender: [UInt8]
    ) -> PreparedAnswer {
        if let refusal = Self.refusal(of: receipt.environment, at: endpoint) { return PreparedAnswer(refusal) }
        let hasSubscriptions = receipt.inAppPurchases.contains(where: \.isAutoRenewable)
        if let refusal = refusal(of: sent.request.password, for: receipt.bundleID, isNeeded: hasSubscriptions, sender) {
            return PreparedAnswer(refusal)
        }
        var prepared = PreparedAnswer(Answer(response: Self.response(sent, receipt), reason: nil))
        guard let settings = sent.settings else { return prepared }
        (prepared.app, prepared.evidence) = (settings.app, sent.request.receiptText)
        prepared.askSeconds = settings.askSeconds
        let observation = Observation(.appReceipt(receipt))
        (prepared.subject, prepared.observation) = (.app(sent, receipt), observation)
        if let bundleID = receipt.bundleID, let environment = receipt.environment {
            prepared.question = StateOfReceipt(
                bundleID: bundleID, environment: environment, receipt: observation, downloadID: receipt.downloadID,
                createdAt: receipt.creationDate)
        }
        return prepared
    }

    private func prepare(
        _ sent: Sent, _ receipt: TransactionReceipt, at endpoint: Endpoint, from sender: [UInt8]
    ) -> PreparedAnswer {
        if let refusal = Self.refusal(of: receipt.environment, at: endpoint) { return PreparedAnswer(refusal) }
        let isSubscription = receipt.expiresDate != nil
        if let refusal = refusal(of: sent.request.password, for: receipt.bundleID, isNeeded: isSubscription, sender) {
            return PreparedAnswer(refusal)
        }
        let response = VerifyReceiptResponse(
            receipt, base64: Self.base64(sent.request.receiptText, sent.evidence), now: sent.now)
        var prepared = PreparedAnswer(
            Answer(response: response, reason: response.status == .expired ? .expired : nil))
        guard let settings = sent.settings else { return prepared }
        (prepared.app, prepared.evidence) = (settings.app, sent.request.receiptText)
        prepared.askSeconds = settings.askSeconds
        let observation = Observation(.transactionReceipt(receipt))
        (prepared.subject, prepared.observation) = (.transaction(sent, receipt), observation)
        if let bundleID = receipt.bundleID, let environment = receipt.environment {
            prepared.question = StateOfReceipt(bundleID: bundleID, environment: environment, receipt: observation)
        }
        return prepared
    }

    private func prepare(
        _ sent: Sent, _ transaction: SignedTransaction, at endpoint: Endpoint, from sender: [UInt8]
    ) throws(VerificationError) -> PreparedAnswer {
        let observation = Observation(.signedTransaction(transaction))
        guard let facts = observation.transactionFacts.first else {
            // The test data of Apple's libraries, for example.
            throw VerificationError(.jwsInsteadOfReceipt, expected: "a transaction with an id", found: "none")
        }
        guard sent.settings?.acceptsSignedTransactions ?? true else {
            var refused = PreparedAnswer(
                Answer(response: VerifyReceiptResponse(status: .malformed), reason: .signedTransactionNotAccepted))
            // As a receipt, one without the secret or at the wrong address is not recorded.
            if Self.refusal(of: transaction.environment, at: endpoint) == nil,
                refusal(
                    of: sent.request.password, for: transaction.bundleID, isNeeded: facts.kind == .autoRenewable,
                    sender) == nil
            {
                (refused.app, refused.evidence) = (sent.settings?.app, sent.request.receiptText)
            }
            return refused
        }
        if let refusal = Self.refusal(of: transaction.environment, at: endpoint) { return PreparedAnswer(refusal) }
        let isSubscription = facts.kind == .autoRenewable
        if let refusal = refusal(of: sent.request.password, for: transaction.bundleID, isNeeded: isSubscription, sender)
        {
            return PreparedAnswer(refusal)
        }
        let standing = ReceiptStanding(observation, ReceiptState(), at: sent.now)
        var prepared = PreparedAnswer(
            Answer(
                response: VerifyReceiptResponse(sent, transaction, signed: standing, standing),
                reason: nil))
        guard let settings = sent.settings else { return prepared }
        (prepared.app, prepared.evidence) = (settings.app, sent.request.receiptText)
        prepared.askSeconds = settings.askSeconds
        (prepared.subject, prepared.observation) = (.signed(sent, transaction), observation)
        if let bundleID = transaction.bundleID {
            prepared.question = StateOfReceipt(
                bundleID: bundleID, environment: transaction.environment, receipt: observation)
        }
        return prepared
    }

    /// The answer to an app receipt, from it and from what is known besides.
    private static func response(
        _ sent: Sent, _ receipt: AppReceipt, _ standing: ReceiptStanding? = nil, latest: [UInt8]? = nil
    ) -> VerifyReceiptResponse {
        var response = VerifyReceiptResponse(status: .valid)
        response.environment = receipt.environment?.name
        let content = VerifyReceiptResponse.Receipt(receipt, requestDate: sent.now)
        var info = LatestReceiptInfo(of: receipt, content.inApp)
        if let standing { info.add(standing) }
        // Also if no purchase is a subscription: all recorded answers of 2021 to 2023 have both, contrary to Apple's
        // text.
        response.latestReceiptInfo = info.entries(excludingOld: sent.request.excludesOldTransactions)
        response.latestReceipt = latest ?? base64(sent.request.receiptText, sent.evidence)
        response.receipt = content
        if let standing {
            let renewals = standing.onePerOriginal.compactMap { VerifyReceiptResponse.PendingRenewalInfo($0) }
            response.pendingRenewalInfo = renewals.isEmpty ? nil : renewals
        }
        return response
    }

    /// The answer with what the ledger knows.
    ///
    /// - Returns: the answer as of signing if that is nothing.
    package func answer(_ prepared: PreparedAnswer, _ state: ReceiptState) -> Answer {
        guard let subject = prepared.subject, let observation = prepared.observation, !state.isEmpty else {
            return prepared.answer
        }
        switch subject {
        case .app(let sent, let receipt):
            if let refusal = erased(sent, state) { return refusal }
            let standing = ReceiptStanding(observation, state, at: sent.now)
            // It was verified when it was stored.
            let latest = state.latestReceipt.flatMap { bytes in
                (try? RecognizedEvidence(bytes)).map { Self.base64(bytes, $0) }
            }
            return Answer(
                response: Self.response(sent, receipt, standing, latest: latest), reason: nil, isLive: standing.isLive,
                unconfirmed: standing.unconfirmed)
        case .signed(let sent, let transaction):
            if let refusal = erased(sent, state) { return refusal }
            let standing = ReceiptStanding(observation, state, at: sent.now)
            let signed = ReceiptStanding(observation, ReceiptState(), at: sent.now)
            return Answer(
                response: VerifyReceiptResponse(sent, transaction, signed: signed, standing), reason: nil,
                isLive: standing.isLive, unconfirmed: standing.unconfirmed)
        case .transaction(let sent, let receipt):
            if let refusal = erased(sent, state) { return refusal }
            let standing = ReceiptStanding(observation, state, at: sent.now)
            guard let subscription = standing.subscriptions.first else {
                return Self.answer(prepared.answer, receipt, standing)
            }
            var response = VerifyReceiptResponse(
                receipt, standing, base64: Self.base64(sent.request.receiptText, sent.evidence), now: sent.now)
            response.flatRenewalInfo = FlatRenewalInfo(subscription, isExpired: response.status == .expired)
            return Answer(
                response: response, reason: response.status == .expired ? .expired : nil, isLive: standing.isLive,
                unconfirmed: standing.unconfirmed)
        }
    }

    /// The answer about a product that is no subscription: with its cancellation, if it is withdrawn.
    private static func answer(
        _ signed: Answer, _ receipt: TransactionReceipt, _ standing: ReceiptStanding
    ) -> Answer {
        let sent = ExactText(receipt.transactionID)
        guard let entry = standing.entries.first(where: { $0.facts.key.transactionID == sent }) else { return signed }
        var response = signed.response
        response.flatReceipt = response.flatReceipt?.withCancellation(of: entry)
        return Answer(response: response, reason: signed.reason)
    }

    /// 21010, if the settings want it for a receipt whose customer was erased.
    private func erased(_ sent: Sent, _ state: ReceiptState) -> Answer? {
        guard state.isErased, sent.settings?.erased == .accountNotFound else { return nil }
        return Answer(response: VerifyReceiptResponse(status: .accountNotFound), reason: .erased)
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

    /// A receipt in one line of plain base64: its text, if it has this form.
    private static func base64(_ text: [UInt8], _ evidence: RecognizedEvidence) -> [UInt8] {
        evidence.encoding == .base64 && !text.contains { $0 <= UInt8(ascii: " ") }
            ? text : [UInt8](Data(evidence.bytes).base64EncodedData())
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

    /// Apple has two statuses for an invalid receipt: malformed, and not authentic. A client that gets 21005 sends it
    /// again.
    private static func status(of error: VerificationError) -> VerifyReceiptStatus {
        switch error.code.stage {
        case .form: .malformed
        case .authenticity where error.code == .certificateJustExpired: .temporarilyUnavailable
        case .authenticity, .content, .policy: .notAuthenticated
        }
    }
}
