import Foundation
import PurchaseMessages
import PurchaseVerification

/// The look at the current evidence, without a password prompt: what another device or installation bought.
extension PurchaseEngine {
    /// Looks at the evidence that the system has now, so that `entitlements` follows the newest news.
    ///
    /// With a server, evidence that is unknown, changed, or a day old is sent in one request, with the newest evidence
    /// of each consumable, whose balance the answer states. Without a server, evidence is verified here. It finishes no
    /// transaction and asks the customer for nothing. `start` calls it, and `run` when the app comes to the foreground,
    /// when the network returns, and once a day.
    ///
    /// - Parameter evenIfKnown: whether to ask the server also if it knew all of it less than a day ago.
    public func refreshEntitlements(evenIfKnown: Bool = false) async {
        // Outside the pass, because it calls the app, which may ask for another pass.
        let isHandedOver = await handOverAgain()
        while let running = pass {
            await running.value
            if pass == running { pass = nil }
        }
        let task = Task { await self.look(evenIfKnown: evenIfKnown) }
        pass = task
        await task.value
        if pass == task { pass = nil }
        if !isHandedOver { nextPass = min(nextPass ?? .infinity, time.uptime + RetryDelay.seconds(after: 1)) }
        // Outside the pass, because it calls the delegate.
        await handleOfLearnedTokens()
    }

    /// Handles transactions that waited because nobody knew whom their tokens name.
    private func handleOfLearnedTokens() async {
        guard server != nil, let customer else { return }
        for entry in record.outbox where entry.customerID == nil && owner(of: entry.transaction, nil) == customer.id {
            await handle(entry.transaction)
        }
    }

    /// How old an answer about the current evidence may be, in seconds.
    static let passInterval: Double = 86_400

    /// Looks again as soon as possible, also if everything was asked less than a day ago.
    func lookSoon() {
        _ = changes { $0.lastPass = nil }
        nextPass = time.uptime
        wake()
    }

    private func look(evenIfKnown: Bool) async {
        guard loads() else { return }
        await learnEnvironment()
        dropOldStarted()
        // What has ended is not taken away before somebody was asked whether it was renewed.
        let evenIfKnown = evenIfKnown || isEndUnseen
        let asked = server == nil ? "" : customer?.id
        let began = currentTime()
        let isDone: Bool
        do {
            var transactions = try await queue.current()
            if let listed = transactions { transactions = listed + (try await withdrawn(besides: listed)) }
            if server == nil {
                let isRead = await lookHere(transactions, besides: try await queue.unfinished())
                if isRead { _ = changes { $0.noteLook(of: "", at: began) } }
                isDone = true
            } else {
                // Without an answer, what has ended is asked about again.
                isDone = await ask(about: transactions, evenIfKnown: evenIfKnown, began) && !isEndUnseen
            }
        } catch {
            emit(.failedOutside(PurchaseError(.queueFailed, error), nil))
            isDone = false
        }
        failedPasses = isDone ? 0 : failedPasses + 1
        nextPass = time.uptime + (isDone ? Self.passInterval : RetryDelay.seconds(after: failedPasses))
        if let asked { lookedFor.insert(asked) }
        announce()
        watchers.values.forEach { $0.yield() }
        wake()
    }

    /// The transactions by which the App Store withdrew products that are shown, and that it therefore no longer lists:
    /// they may have arrived before this app was there to take them, or be lost. Also the last ones of products whose
    /// time has just ended, about which the server may know more.
    private func withdrawn(besides listed: [PaymentTransaction]) async throws -> [PaymentTransaction] {
        let missing = entitlements(at: currentTime()).filter { shown in
            shown.isActive && !listed.contains { $0.productID == shown.productID }
        }
        guard !missing.isEmpty else { return [] }
        let now = currentTime()
        let ended = missing.filter { $0.until.map { $0 <= now } ?? false }.map(\.productID)
        return try await queue.latest(missing.map(\.productID)).filter {
            $0.withdrawal != nil || (server != nil && ended.contains($0.productID))
        }
    }

    // MARK: With a server

    private struct Proof {
        let evidence: PurchaseEvidence
        /// What tells it from an earlier state.
        let version: String
        /// What it says, if the device verified it; only of subscriptions.
        var verified: VerifiedEvidence?
        /// A token that is unknown on this device, and the transaction that carries it.
        var unknown: (token: UUID, transactionID: String)?
    }

    /// How the server knows that the app may read a customer's account without evidence; `nil` if it may not.
    func accountName(of customerID: String) async throws -> String? {
        isGuest(customerID) == nil ? try await server?.customerToken?(customerID) : customerID
    }

    /// Sends the evidence if there is something new in it, or asks for the account if there is none.
    ///
    /// - Returns: whether nothing is left to ask now.
    private func ask(about transactions: [PaymentTransaction]?, evenIfKnown: Bool, _ began: Date) async -> Bool {
        guard server != nil, let customerID = customer?.id else { return true }
        var proofs = await currentProofs(transactions, of: customerID) + consumableProofs(of: customerID)
        let known = Set(proofs.map(\.version))
        proofs += waitingProofs(of: customerID).filter { !known.contains($0.version) }
        let last = record.lastPass.flatMap { $0.customerID == customerID ? $0 : nil }
        let isFresh = last.map { abs(trustedNow().timeIntervalSince($0.at)) < Self.passInterval } ?? false
        let seen = Set(proofs.map(\.version))
        if !evenIfKnown, isFresh, let last, seen.isSubset(of: last.seen) { return true }
        let endWork = await life.beginWork("refresh")
        var answeredAt: Date?
        var (isWhole, hasAccount) = (true, false)
        do {
            for (request, _) in requests(proofs, of: customerID, \.evidence) where isWhole {
                let decision = try await asking(about: customerID) { try await $0.restore(request) }
                guard case .accepted(let answer, let signedAt) = decision else {
                    isWhole = false
                    continue
                }
                take(answer, of: customerID, signedAt, proofs.compactMap(\.verified))
                learnTokens(proofs.compactMap(\.unknown), of: customerID, answer)
                (answeredAt, hasAccount) = (signedAt, hasAccount || answer.account != nil)
            }
            if isWhole, !hasAccount, let name = try await accountName(of: customerID) {
                let decision = try await asking(about: customerID) { try await $0.account(of: customerID, name) }
                if case .accepted(let list, let signedAt) = decision {
                    // A guest whom the server no longer holds for one, as after an order, gets an empty list.
                    let says = isGuest(customerID) == nil || !list.entitlements.isEmpty
                    let account = take([], says ? list : nil, of: customerID, signedAt)
                    _ = changes { $0.keep(account) }
                    answeredAt = signedAt
                } else {
                    isWhole = answeredAt != nil
                }
            }
        } catch {
            emit(.failedOutside(PurchaseError(.connectionFailed, error), nil))
            isWhole = false
        }
        await endWork()
        guard isWhole, let answeredAt else { return isWhole }
        return changes { record in
            record.noteLook(of: customerID, at: began)
            record.lastPass = PurchaseRecord.Pass(customerID: customerID, at: answeredAt, seen: seen)
        }
    }

    /// The evidence of the customer who is signed in: that of another customer is theirs to send.
    private func currentProofs(_ transactions: [PaymentTransaction]?, of customerID: String) async -> [Proof] {
        guard let transactions else {
            // A receipt has the purchases of everybody who used this device, also one that waits for somebody else, or
            // that a server with `transfer: move` would take from them.
            let lasting = record.granted.filter { $0.kind != .consumable && $0.endedAt == nil }
            let others =
                record.outbox.compactMap(\.customerID) + record.started.map(\.customerID)
                + lasting.compactMap(\.customerID)
            guard !others.contains(where: { $0 != customerID }),
                case .appReceipt(let receipt)? = await loadedReceipt()
            else { return [] }
            let digest = receipt.sha256.prefix(8).map { "\($0)" }.joined(separator: ".")
            guard !receipt.isEmpty else { return [] }
            let verified = await gather(.appReceipt(receipt), for: nil).verified
            return [Proof(evidence: .appReceipt(receipt), version: digest, verified: verified)]
        }
        var proofs: [Proof] = []
        for transaction in transactions {
            guard let text = transaction.signedTransaction else { continue }
            let owner = owner(of: transaction, startedPurchase(of: transaction))
            let ownerOfOriginal = record.customerID(ofOriginal: transaction) ?? customerID
            guard owner == customerID || (owner == nil && ownerOfOriginal == customerID) else { continue }
            var proof = Proof(evidence: .signedTransaction(text), version: Self.version(of: transaction))
            // If the server does not answer, a renewal counts until it does.
            if transaction.expirationDate != nil, transaction.isVerifiedByStoreKit {
                proof.verified = await gather(proof.evidence, for: transaction).verified
            }
            // The server knows former tokens, and those of merged customers. It accepts nothing that carries another
            // customer's.
            if owner == nil, let token = transaction.appAccountToken, let id = transaction.transactionID {
                proof.unknown = (token, id)
            }
            proofs.append(proof)
            if let renewal = transaction.signedRenewalInfo {
                let original = transaction.originalTransactionID
                let news = verifier.renewal(renewal, of: original)?.version ?? "none"
                proofs.append(
                    Proof(evidence: .signedTransaction(renewal), version: "\(original ?? "") renewal \(news)"))
            }
        }
        return proofs
    }

    /// Evidence of consumables, which the App Store does not list once they are finished: the answer says what is left
    /// after the backend or another device used some, and after a refund.
    private func consumableProofs(of customerID: String) -> [Proof] {
        (record.accepted ?? []).filter { $0.customerID == customerID }.map {
            Proof(evidence: .signedTransaction($0.signedTransaction), version: $0.version)
        }
    }

    /// Evidence of waiting transactions whose tokens are unknown here. The App Store lists no consumables.
    private func waitingProofs(of customerID: String) -> [Proof] {
        record.outbox.compactMap { entry in
            let transaction = entry.transaction
            guard entry.customerID == nil, owner(of: transaction, nil) == nil,
                record.customerID(ofOriginal: transaction) ?? customerID == customerID,
                let token = transaction.appAccountToken, let id = transaction.transactionID,
                let text = transaction.signedTransaction
            else { return nil }
            return Proof(
                evidence: .signedTransaction(text), version: Self.version(of: transaction), unknown: (token, id))
        }
    }

    /// Notes whom tokens name that were unknown here: the customer for whom the server accepted their transactions.
    private func learnTokens(
        _ unknown: [(token: UUID, transactionID: String)], of customerID: String, _ answer: RestoreAnswer
    ) {
        let accepted = answer.purchases.filter { $0.disposition == .granted }
        let tokens = unknown.filter { one in accepted.contains { one.transactionID.isSame(as: $0.transactionID) } }
            .map(\.token)
        guard !tokens.isEmpty else { return }
        _ = changes { record in
            for token in tokens { record.customers[token] = customerID }
        }
    }

    private func take(
        _ answer: RestoreAnswer, of customerID: String, _ signedAt: Date, _ verified: [VerifiedEvidence]
    ) {
        let entitlements = take(answer.entitlements, answer.account, of: customerID, signedAt)
        let now = trustedNow()
        var ended: [GrantedPurchase] = []
        _ = changes { record in
            for purchase in answer.purchases {
                let key = PurchaseKey(
                    environment: purchase.environment.rawValue, transactionID: purchase.transactionID)
                let error = ServerDecision.notCounted(purchase.productID, purchase.environment, entitlements.asked)
                // One that waits is claimed with its order by itself.
                let waits = record.entry(key) != nil || record.started.contains { $0.productID == purchase.productID }
                if purchase.disposition == .refused || error != nil { record.refuseRenewal(noted: key) }
                if purchase.disposition == .granted, error == nil, !waits {
                    var granted = GrantedPurchase(
                        key: key, originalTransactionID: purchase.originalTransactionID,
                        productID: purchase.productID, customerID: customerID,
                        expirationDate: purchase.expiresAt.flatMap { AppStoreTime($0)?.date }, grantedAt: now,
                        submissionID: purchase.submissionID)
                    granted.takeOwnership(verified)
                    record.add(granted)
                    record.acceptRenewal(key)
                } else if PurchaseError.Code(rawValue: purchase.code).endsPurchase, let one = record.end(key, at: now) {
                    ended.append(one)
                }
            }
            record.keep(entitlements)
        }
        for purchase in ended { emit(.revoked(PurchaseReport(purchase), PurchaseError(.purchaseRevoked))) }
    }

    // MARK: Helpers

    /// The receipt as it is, without a refresh; `nil` if there is none now.
    func loadedReceipt() async -> PurchaseEvidence? {
        do {
            return try await receipts.load().map { .appReceipt(Data($0)) }
        } catch {
            emit(.failedOutside(PurchaseError(.receiptMissing, error), nil))
            return nil
        }
    }

    /// What tells a state of a transaction from an earlier one, in its stored form. StoreKit delivers each more than
    /// once: at the purchase, by `updates` and by `unfinished`.
    static func version(of transaction: PaymentTransaction) -> String {
        let dates = [transaction.expirationDate, transaction.revocationDate].map { date in
            date.map { "\(Int64($0.timeIntervalSince1970))" } ?? ""
        }
        return "\(transaction.transactionID ?? "") \(dates.joined(separator: " ")) \(transaction.isUpgraded)"
    }
}
