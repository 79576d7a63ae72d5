/// The newest signed transaction of a consumable that the server accepted for a customer. The App Store lists no
/// finished consumables, so the kit asks the server with it what is left.
///
/// Only of consumables: under `transfer: move` a claim of anything else may take it from a customer to whom it was
/// transferred, and the system's own list says whether this device may claim it.
struct AcceptedEvidence: Codable, Equatable {
    var customerID: String
    let productID: String
    let environment: String?
    let transactionID: String
    /// Stored in an entry of its own, as that of waiting transactions; empty in the document.
    var signedTransaction: String

    /// The number of consumables about which the server is asked: with all else, they fit in one request.
    static let limit = 50

    init?(_ transaction: PaymentTransaction, of customerID: String?) {
        guard let customerID, let id = transaction.transactionID, let text = transaction.signedTransaction else {
            return nil
        }
        (self.customerID, productID, transactionID) = (customerID, transaction.productID, id)
        (environment, signedTransaction) = (transaction.environment, text)
    }

    var evidenceName: String { "accepted-" + transactionID.filter { $0.isASCII && ($0.isLetter || $0.isNumber) } }

    /// What tells it from other evidence in the list of what the server saw.
    var version: String { "accepted \(transactionID)" }

    func isSameProduct(as other: AcceptedEvidence) -> Bool {
        customerID == other.customerID && productID == other.productID && environment == other.environment
    }
}

extension PurchaseRecord {
    /// Keeps accepted evidence, in the place of that of the same product.
    mutating func keep(accepted new: AcceptedEvidence?) {
        guard let new, !(accepted ?? []).contains(new) else { return }
        let others = (accepted ?? []).filter { !$0.isSameProduct(as: new) }
        accepted = others.suffix(AcceptedEvidence.limit - 1) + [new]
    }

    var evidenceNames: [String] { outbox.map(\.evidenceName) + (accepted ?? []).map(\.evidenceName) }

    /// Reads accepted evidence. What cannot be read is replaced at the next purchase.
    mutating func loadAcceptedEvidence(_ store: any PurchaseStore) {
        accepted = accepted?.compactMap { one in
            guard let stored = try? store.evidence(one.evidenceName), !stored.isEmpty else { return nil }
            var one = one
            one.signedTransaction = String(decoding: stored, as: UTF8.self)
            return one
        }
    }

    func storeAcceptedEvidence(_ store: any PurchaseStore, since old: PurchaseRecord) throws {
        for one in accepted ?? []
        where !(old.accepted ?? []).contains(where: { $0.signedTransaction == one.signedTransaction }) {
            try store.keepEvidence(Array(one.signedTransaction.utf8), one.evidenceName)
        }
    }
}
