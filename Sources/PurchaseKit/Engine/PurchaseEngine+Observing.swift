import Foundation
import PurchaseVerification

/// The look at the current evidence without a server: the device reads it by itself.
extension PurchaseEngine {
    /// Takes what signed evidence says about purchases that are not consumables; those arrive as transactions.
    ///
    /// - Parameter waiting: unfinished transactions. What they are about is granted, announced and finished with them.
    /// - Returns: whether there was something to read: a list, or a receipt that the device could verify.
    func lookHere(_ transactions: [PaymentTransaction]?, besides waiting: [PaymentTransaction]) async -> Bool {
        guard let transactions else {
            guard let evidence = await loadedReceipt(),
                case .appReceipt(let receipt)? = await gather(evidence, for: nil).verified
            else { return false }
            observe(.appReceipt(receipt), renewal: nil, besides: waiting)
            return true
        }
        var listed: [(evidence: VerifiedEvidence, renewal: PurchaseRenewal?)] = []
        for transaction in transactions where transaction.isVerifiedByStoreKit {
            if transaction.isVouchedForByXcode {
                observe(vouchedFor: transaction)
                continue
            }
            guard let text = transaction.signedTransaction,
                let verified = await gather(.signedTransaction(text), for: transaction).verified
            else { continue }
            let renewal = transaction.signedRenewalInfo.flatMap {
                verifier.renewal($0, of: transaction.originalTransactionID)
            }
            listed.append((verified, renewal))
        }
        _ = together { for one in listed { observe(one.evidence, renewal: one.renewal, besides: waiting) } }
        // StoreKit knows the time better than the mark, which a wrong clock may have set.
        let keys = listed.flatMap { one in
            one.evidence.facts.transactions.filter { one.evidence.withdrawal(of: $0.transactionID) == nil }.map {
                PurchaseKey(environment: one.evidence.facts.environment?.name, transactionID: $0.transactionID)
            }
        }
        let now = currentTime()
        listedPastEnd = Set(keys.filter { key in record.granted(key)?.until.map { $0 <= now } ?? false })
        return true
    }

    /// Takes what StoreKit says about a purchase in Xcode's store.
    private func observe(vouchedFor transaction: PaymentTransaction) {
        guard let key = transaction.key, transaction.kind != .consumable else { return }
        let now = trustedNow()
        _ = changes { record in
            guard transaction.withdrawal == nil else {
                _ = record.end(key, at: now)
                return
            }
            record.grant(
                GrantedPurchase(
                    key: key, originalTransactionID: transaction.originalTransactionID,
                    productID: transaction.productID, kind: transaction.kind, customerID: customer?.id,
                    purchaseDate: transaction.purchaseDate, expirationDate: transaction.expirationDate, grantedAt: now))
        }
    }

    private func observe(
        _ verified: VerifiedEvidence, renewal: PurchaseRenewal?, besides waiting: [PaymentTransaction]
    ) {
        let now = trustedNow()
        let signedAt = verified.facts.signingDate?.date
        var ended: [(GrantedPurchase, PurchaseError)] = []
        _ = changes { record in
            for facts in verified.facts.transactions {
                let key = PurchaseKey(
                    environment: verified.facts.environment?.name, transactionID: facts.transactionID)
                let kind = verified.productKind(of: facts.transactionID)
                guard kind != .consumable, let productID = facts.productID else { continue }
                let waits = waiting.contains { transaction in
                    transaction.transactionID == facts.transactionID
                        || transaction.transactionID == nil && transaction.productID == productID
                }
                // It may be known from an earlier look; then what is new about it counts.
                guard !waits || record.granted(key) != nil else { continue }
                if let error = verified.withdrawal(of: facts.transactionID) {
                    if let one = record.end(key, at: now) { ended.append((one, error)) }
                    continue
                }
                if let endedAt = record.granted(key)?.endedAt, !verified.reverses(anEndAt: endedAt) { continue }
                record.grant(
                    GrantedPurchase(
                        key: key, originalTransactionID: facts.originalTransactionID, productID: productID, kind: kind,
                        quantity: facts.quantity.map { Int64(clamping: $0) } ?? 1, customerID: customer?.id,
                        purchaseDate: facts.purchaseDate?.date,
                        expirationDate: verified.expirationDate(of: facts.transactionID),
                        graceUntil: renewal?.graceUntil,
                        renewal: renewal, grantedAt: now, signedAt: signedAt))
            }
        }
        for (purchase, error) in ended { emit(.revoked(PurchaseReport(purchase), error)) }
    }
}
