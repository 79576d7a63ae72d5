import Foundation
import PurchaseVerification

/// The look at the current evidence without a server: the device reads it by itself.
extension PurchaseEngine {
    /// Takes what signed evidence says about purchases that are not consumables; those arrive as transactions.
    ///
    /// - Parameter waiting: unfinished transactions. What they are about is granted, announced and finished with them.
    func lookHere(_ transactions: [PaymentTransaction]?, besides waiting: [PaymentTransaction]) async {
        guard let transactions else {
            guard let evidence = await loadedReceipt(),
                case .appReceipt(let receipt)? = await gather(evidence, for: nil).verified
            else { return }
            observe(.appReceipt(receipt), renewal: nil, besides: waiting)
            return
        }
        for transaction in transactions where transaction.isVerifiedByStoreKit {
            guard let text = transaction.signedTransaction,
                let verified = await gather(.signedTransaction(text), for: transaction).verified
            else { continue }
            let renewal = transaction.signedRenewalInfo.flatMap {
                verifier.renewal($0, of: transaction.originalTransactionID)
            }
            observe(verified, renewal: renewal, besides: waiting)
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
        for (purchase, error) in ended {
            emit(.revoked(PurchaseReport(purchase.key.transactionID, purchase.productID), error))
        }
    }
}
