package import PurchaseAPI
package import PurchaseLedger
package import PurchaseVerification

extension VerifyReceiptResponse.Receipt {
    /// The content of the receipt, in Apple's words.
    ///
    /// - Parameter requestDate: the time of the request; `nil` if there was none.
    package init<Trust>(_ receipt: AppReceiptContent<Trust>, requestDate: AppStoreTime?) {
        self.init()
        receiptType = receipt.receiptType
        adamID = receipt.appAppleID
        bundleID = receipt.bundleID
        applicationVersion = receipt.applicationVersion.flatMap { $0.isEmpty ? nil : $0 }
        downloadID = receipt.downloadID
        versionExternalIdentifier = receipt.versionExternalIdentifier
        receiptCreationDate = receipt.creationDate.map(AppleDate.init(ofReceipt:))
        self.requestDate = requestDate.map { AppleDate(millisecondsSince1970: $0.millisecondsSince1970) }
        originalPurchaseDate = receipt.originalPurchaseDate.map(AppleDate.init(ofReceipt:))
        originalApplicationVersion = receipt.originalApplicationVersion.flatMap { $0.isEmpty ? nil : $0 }
        expirationDate = receipt.expirationDate.map(AppleDate.init(ofReceipt:))
        inApp = receipt.inAppPurchases.map { VerifyReceiptResponse.InAppPurchase($0) }
    }
}

extension VerifyReceiptResponse.InAppPurchase {
    /// One purchase of the receipt, in Apple's words.
    package init<Trust>(_ purchase: InAppPurchaseContent<Trust>) {
        self.init(productID: purchase.productID, transactionID: purchase.transactionID)
        quantity = purchase.quantity
        originalTransactionID = purchase.originalTransactionID
        purchaseDate = purchase.purchaseDate.map(AppleDate.init(ofReceipt:))
        originalPurchaseDate = purchase.originalPurchaseDate.map(AppleDate.init(ofReceipt:))
        expiresDate = purchase.expiresDate.map(AppleDate.init(ofReceipt:))
        cancellationDate = purchase.cancellationDate.map(AppleDate.init(ofReceipt:))
        cancellationReason = purchase.cancellationReason.map { Int($0) }
        // For products that are not subscriptions, the receipt has 0 and the answer has no key.
        webOrderLineItemID = purchase.webOrderLineItemID.flatMap { $0 == "0" ? nil : UInt64($0) }
        isTrialPeriod = purchase.isTrialPeriod
        isInIntroOfferPeriod = purchase.isInIntroOfferPeriod
        promotionalOfferID = purchase.offerIdentifier.flatMap { $0.isEmpty ? nil : $0 }
        inAppOwnershipType =
            switch purchase.ownershipType {
            case .purchased, .familyShared: purchase.ownershipType?.rawValue
            default: nil
            }
    }
}

extension AppleDate {
    /// A date of a receipt: Apple answers with whole seconds, even if the receipt has a fraction.
    init(ofReceipt timestamp: AppStoreTime) {
        self = AppleDate(millisecondsSince1970: timestamp.millisecondsSince1970).inWholeSeconds
    }
}

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

extension FlatReceipt {
    /// The content of the receipt, in Apple's words of iOS 6.
    package init<Trust>(_ receipt: TransactionReceiptContent<Trust>) {
        self.init(attributes: receipt.attributes)
    }
}

extension VerifyReceiptResponse {
    /// The answer to a transaction receipt, in one of three forms: for a product, only the flat receipt; for a
    /// subscription, with itself as the latest receipt; for an expired one, status 21006 and itself as the latest
    /// expired receipt.
    ///
    /// - Parameters:
    ///   - receipt: the receipt.
    ///   - base64: the receipt as it was sent.
    ///   - now: the time of the request.
    package init(_ receipt: TransactionReceipt, base64: [UInt8], now: AppStoreTime) {
        let flat = FlatReceipt(receipt)
        guard let expiresDate = receipt.expiresDate else {
            self.init(status: .valid)
            flatReceipt = flat
            return
        }
        if now >= expiresDate {
            self.init(status: .expired)
            latestExpiredReceiptInfo = flat
        } else {
            self.init(status: .valid)
            latestFlatReceiptInfo = flat
            latestReceipt = base64
        }
        flatReceipt = flat
    }

    /// The answer with what the ledger knows: the subscription's newest transaction decides, so it can be valid again
    /// after 21006.
    package init(_ receipt: TransactionReceipt, _ standing: ReceiptStanding, base64: [UInt8], now: AppStoreTime) {
        let begun = standing.entries.filter { ($0.facts.purchaseDate ?? now) <= now && $0.facts.kind == .autoRenewable }
        let newest = begun.max { left, right in
            guard left.facts.purchaseDate == right.facts.purchaseDate,
                let (first, second) = left.facts.end.flatMap({ first in right.facts.end.map { (first, $0) } })
            else { return (left.facts.purchaseDate ?? now) < (right.facts.purchaseDate ?? now) }
            return first < second
        }
        guard let newest, let end = newest.facts.end else {
            self.init(receipt, base64: base64, now: now)
            return
        }
        let flat = FlatReceipt(receipt)
        self.init(status: now < end ? .valid : .expired)
        flatReceipt = flat
        if now < end {
            latestFlatReceiptInfo = flat.with(newest)
            latestReceipt = base64
        } else {
            latestExpiredReceiptInfo = flat.with(newest)
        }
    }
}
