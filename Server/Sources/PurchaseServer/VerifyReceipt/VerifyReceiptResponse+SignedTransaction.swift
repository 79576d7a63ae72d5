import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

extension VerifyReceiptResponse {
    /// The answer to a signed transaction, in the form of an app receipt's: what the transaction states, and what the
    /// ledger knows of its original. It never has `latest_receipt`: whoever holds one shared transaction would get a
    /// receipt with all purchases of the download.
    ///
    /// - Parameters:
    ///   - signed: the standing by the transaction alone.
    ///   - standing: the standing with what the ledger knows.
    init(
        _ sent: VerifyReceiptService.Sent, _ transaction: SignedTransaction, signed: ReceiptStanding,
        _ standing: ReceiptStanding
    ) {
        self.init(status: .valid)
        environment = transaction.environment.name
        receipt = Receipt(
            transaction, signed.entries.map { InAppPurchase(signed: $0) }, requestDate: sent.now)
        var info = LatestReceiptInfo()
        info.add(standing)
        latestReceiptInfo = info.entries(excludingOld: sent.request.excludesOldTransactions)
        let renewals = standing.onePerOriginal.compactMap { PendingRenewalInfo($0) }
        pendingRenewalInfo = renewals.isEmpty ? nil : renewals
    }
}

extension VerifyReceiptResponse.Receipt {
    /// The keys that a signed transaction states. It names no version and no download of the app.
    fileprivate init(
        _ transaction: SignedTransaction, _ purchases: [VerifyReceiptResponse.InAppPurchase], requestDate: AppStoreTime
    ) {
        self.init()
        let environment = transaction.environment
        receiptType = environment == .sandbox ? "ProductionSandbox" : environment.name
        bundleID = transaction.bundleID
        receiptCreationDate = transaction.signedDate.map(AppleDate.init(ofReceipt:))
        self.requestDate = AppleDate(millisecondsSince1970: requestDate.millisecondsSince1970)
        inApp = purchases
        writesUnknownNumbers = false
    }
}

extension VerifyReceiptResponse.InAppPurchase {
    /// The entry of `in_app`, with the keys that it has for a receipt.
    fileprivate init(signed entry: ReceiptStanding.Entry) {
        let facts = entry.facts
        self.init(productID: facts.productID?.string ?? "", transactionID: facts.key.transactionID.string)
        add(entry)
        (subscriptionGroupIdentifier, appAccountToken, offerCodeRefName) = (nil, nil, nil)
        // When an upgrade ended the period is in the next one alone.
        if isUpgraded, entry.withdrawal == nil { cancellationDate = nil }
        isUpgraded = false
    }
}
