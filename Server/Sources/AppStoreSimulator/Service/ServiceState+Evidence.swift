import EvidenceMint
import Foundation

extension ServiceState {
    /// Signs all evidence of a transaction, and records it for later requests of `verifyReceipt`.
    /// - Parameters:
    ///   - version: of the transaction receipt.
    ///   - faults: the faults to apply; without them, the faults that were set for the next evidence apply.
    mutating func evidence(
        of transaction: StoreTransaction, by issuer: EvidenceIssuer, version: TransactionReceiptVersion = .four,
        faults: EvidenceFaults? = nil
    ) throws -> TransactionEvidence {
        let app = try store.app(transaction.bundleID)
        let customer = try store.customer(transaction.customerID)
        let product = try store.product(transaction.productID, of: transaction.bundleID)
        let receipt = try store.receipt(of: app.bundleID, for: customer.customerID).containing(transaction, in: store)
        let signed = SignedTransactionTemplate(
            transaction, app: app, customer: customer, product: product, signedDate: store.signingTime,
            isForDevice: true)
        let renewalInfo = store.state.subscriptions[transaction.originalTransactionID].map {
            RenewalInfoTemplate(
                $0, transaction: signed, currency: product.currency, signedDate: store.signingTime,
                invitations: transaction.seats?.invitations)
        }
        let appTransaction = AppTransactionTemplate(
            receipt, app: app, customer: customer, signedDate: store.signingTime)
        let transactionReceipt = try issuer.transactionReceipt(
            transaction, in: store, version: version,
            fault: faults?.transactionReceipt ?? takeFault(.transactionReceipt))
        evidence[transactionReceipt.record.digest] = transactionReceipt.record
        return TransactionEvidence(
            appReceipt: try appReceipt(receipt, by: issuer, fault: faults?.appReceipt),
            transactionReceipt: Data(transactionReceipt.bytes).base64EncodedString(),
            signedTransaction: try issuer.signed(
                signed, fault: faults?.signedTransaction ?? takeFault(.signedTransaction)),
            signedRenewalInfo: try renewalInfo.map {
                try issuer.signed($0, fault: faults?.signedRenewalInfo ?? takeFault(.signedRenewalInfo))
            },
            appTransaction: try issuer.signed(
                appTransaction, fault: faults?.appTransaction ?? takeFault(.appTransaction)))
    }

    /// Signs the receipt on a customer's device, in base64.
    mutating func appReceipt(
        _ receipt: StoreReceipt, by issuer: EvidenceIssuer, fault: String? = nil
    ) throws -> String {
        let issued = try issuer.appReceipt(
            receipt, transactions: receipt.transactions, in: store, creationDate: receipt.creationDate,
            fault: fault ?? takeFault(.appReceipt))
        evidence[issued.record.digest] = issued.record
        return Data(issued.bytes).base64EncodedString()
    }
}

extension EvidenceFault {
    /// The names of the faults that a kind of evidence can have.
    static func names(of kind: Kind) -> [String] {
        switch kind {
        case .appReceipt: StoreFault.allCases.map(\.rawValue) + ReceiptFault.allCases.map(\.rawValue)
        case .transactionReceipt: TransactionReceiptFault.allCases.map(\.rawValue)
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification:
            SignedPayloadFault.allCases.map(\.rawValue)
        }
    }

    func check() throws(StoreError) {
        try Self.check(fault, of: kind)
        guard (1...1_000_000).contains(count) else {
            throw StoreError(.invalidValue, "'count' is 1 to 1000000 pieces of evidence, not \(count).")
        }
    }

    static func check(_ fault: String?, of kind: Kind) throws(StoreError) {
        let names = names(of: kind)
        guard let fault, !names.contains(fault) else { return }
        throw StoreError(
            .invalidValue,
            "Evidence of the kind \(kind.rawValue) has no fault '\(fault.prefix(80))'. Known: \(names.sorted().joined(separator: ", "))."
        )
    }
}

/// All evidence of one transaction.
struct TransactionEvidence: Encodable, Sendable {
    /// The customer's app receipt, in base64.
    var appReceipt: String
    /// The transaction receipt (iOS 6 kind), in base64.
    var transactionReceipt: String
    /// Compact JWS.
    var signedTransaction: String
    /// Compact JWS; only of subscriptions.
    var signedRenewalInfo: String?
    /// Compact JWS.
    var appTransaction: String
}
