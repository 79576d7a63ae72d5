package import AppStoreConnection
import PurchaseAPI
package import PurchaseLedger
package import PurchaseVerification

extension AppStoreAnswer {
    /// The maximum number of cancellations that are recorded from one reply. A customer has far fewer, and each is a
    /// row that is read.
    private static let mostCancellations = 1000

    /// The App Store's answer: its reply, compared with the facts that the receipt proves.
    ///
    /// Status 0 alone proves nothing, because a reply can belong to another receipt, or have been edited on its way.
    package init(_ reply: AppStoreReply, _ evidence: VerifiedEvidence) {
        let contradiction = Self.contradiction(reply, evidence)
        self.init(refusal: Self.refusal(reply, evidence, contradiction))
        // Apple says of a genuine receipt that it is not authentic, or answers with another receipt.
        isContradiction =
            refusal?.code == DecisionCode.appStoreContradicts.rawValue || reply.status == .notAuthenticated
        environment = reply.environment.rawValue
        status = Int64(reply.status.rawValue)
        self.reply = reply.json
        // Nothing else is accepted from a reply that is not about the receipt.
        guard refusal == nil, let environment = evidence.facts.environment else { return }
        readPurchases(reply.response, environment)
        if let latest = reply.response.latestReceipt, !latest.isEmpty { latestReceipt = latest }
    }

    private static func refusal(
        _ reply: AppStoreReply, _ evidence: VerifiedEvidence, _ contradiction: ReplyComparison.Contradiction?
    ) -> Rejection? {
        let found = "status \(reply.status.rawValue)"
        switch (reply.status, evidence) {
        case (.valid, _), (.expired, .transactionReceipt):
            guard let contradiction else { return nil }
            // A reply may say anything, at any length.
            return Rejection(
                .appStoreContradicts, expected: "\(contradiction.path) \(contradiction.proven ?? "absent")",
                found: contradiction.replied.map { String(decoding: $0.utf8.prefix(200), as: UTF8.self) } ?? "absent")
        case (.notAuthenticated, _), (.accountNotFound, _):
            return Rejection(.appStoreRefused, expected: "status 0", found: found)
        case (.secretMismatch, _): return Rejection(.appStoreSecretMismatch, expected: "status 0", found: found)
        default: return Rejection(.appStoreContradicts, expected: "status 0", found: found)
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
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification, .realtimeRequest: return nil
        }
    }

    /// Reads cancellations and account tokens.
    private mutating func readPurchases(_ response: VerifyReceiptResponse, _ environment: AppStoreEnvironment) {
        var stated: [TransactionStatement] = []
        func key(_ id: String) -> TransactionKey? {
            let id = ExactText(id)
            return id.isIdentifier ? TransactionKey(environment: environment, transactionID: id) : nil
        }
        for purchase in (response.receipt?.inApp ?? []) + (response.latestReceiptInfo ?? []) {
            guard let key = key(purchase.transactionID) else { continue }
            stated.append(TransactionStatement(purchase, key))
            guard let token = purchase.appAccountToken, token.utf8.count == 36 else { continue }
            tokens[key] = AppAccountToken(token)
        }
        stated = stated.markingUpgrades
        for receipt in [response.flatReceipt, response.latestFlatReceiptInfo, response.latestExpiredReceiptInfo] {
            guard let key = (receipt?["transaction_id"]).flatMap(key), let text = receipt?["cancellation_date_ms"],
                text.utf8.count <= 20
            else { continue }
            var purchase = VerifyReceiptResponse.InAppPurchase(productID: "", transactionID: "")
            purchase.cancellationDate = Int64(text).map(AppleDate.init(millisecondsSince1970:))
            purchase.isUpgraded = receipt?["is_upgraded"] == "true"
            stated.append(TransactionStatement(purchase, key))
        }
        var cancelled: [TransactionKey: (date: Timestamp, isUpgrade: Bool)] = [:]
        for statement in stated {
            guard let date = statement.cancellation, Self.dates.contains(date.millisecondsSince1970),
                cancelled.count < Self.mostCancellations
            else { continue }
            let former = cancelled[statement.key]
            cancelled[statement.key] = (
                max(former?.date ?? date, date), former?.isUpgrade ?? false || statement.isUpgraded
            )
        }
        cancellations = cancelled.map { Cancellation($0.key, at: $0.value.date, isUpgrade: $0.value.isUpgrade) }
            .sorted { ($0.date, $0.key.transactionID) < ($1.date, $1.key.transactionID) }
    }

    /// The dates that a reply can state: of the years 1970 to 9999, in milliseconds since 1970.
    private static let dates: ClosedRange<Int64> = 0...253_402_300_799_999
}

extension TransactionStatement {
    /// What a reply states about a purchase, as far as it decides whether a cancellation is an upgrade.
    fileprivate init(_ purchase: VerifyReceiptResponse.InAppPurchase, _ key: TransactionKey) {
        func time(_ date: AppleDate?) -> Timestamp? {
            date.map { Timestamp(millisecondsSince1970: $0.millisecondsSince1970) }
        }
        self.init(key: key, source: .appReceipt, stamp: Timestamp(millisecondsSince1970: 0))
        originalTransactionID = purchase.originalTransactionID.map { ExactText($0) }
        productID = ExactText(purchase.productID)
        (purchaseDate, end) = (time(purchase.purchaseDate), time(purchase.expiresDate))
        (cancellation, isUpgraded) = (time(purchase.cancellationDate), purchase.isUpgraded)
    }
}
