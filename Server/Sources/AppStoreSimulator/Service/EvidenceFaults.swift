import EvidenceMint
import Foundation

/// The names of faults for the evidence of one answer.
struct EvidenceFaults: Decodable, Sendable {
    var appReceipt: String?
    var transactionReceipt: String?
    var signedTransaction: String?
    var signedRenewalInfo: String?
    var appTransaction: String?

    func check() throws(StoreError) {
        try EvidenceFault.check(appReceipt, of: .appReceipt)
        try EvidenceFault.check(transactionReceipt, of: .transactionReceipt)
        try EvidenceFault.check(signedTransaction, of: .signedTransaction)
        try EvidenceFault.check(signedRenewalInfo, of: .signedRenewalInfo)
        try EvidenceFault.check(appTransaction, of: .appTransaction)
    }
}

/// A fault of the next evidence that the store signs.
struct EvidenceFault: CountedFault {
    var kind: Kind
    var fault: String
    @OneByDefault var count: Int

    static let counted = "pieces of evidence"
    static let members: [BodyMember] = ["kind", "fault", "count"]

    enum Kind: String, Codable, Sendable, Word {
        case appReceipt = "app_receipt"
        case transactionReceipt = "transaction_receipt"
        case signedTransaction = "signed_transaction"
        case signedRenewalInfo = "signed_renewal_info"
        case appTransaction = "app_transaction"
        case notification

        /// The faults that evidence of the kind can have.
        var faults: [FaultName] {
            switch self {
            case .appReceipt:
                FaultName.all(StoreFault.self, \.explanation) + FaultName.all(ReceiptFault.self, \.explanation)
            case .transactionReceipt: FaultName.all(TransactionReceiptFault.self, \.explanation)
            case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification:
                FaultName.all(SignedPayloadFault.self, \.explanation)
            }
        }
    }

    func check() throws(StoreError) {
        try Self.check(fault, of: kind)
        try checkCount()
    }

    static func check(_ fault: String?, of kind: Kind) throws(StoreError) {
        let names = kind.faults.map(\.name)
        guard let fault, !names.contains(fault) else { return }
        throw StoreError(
            .invalidValue,
            "Evidence of the kind \(kind.rawValue) has no fault '\(fault.prefix(80))'. Known: \(names.sorted().joined(separator: ", "))."
        )
    }
}

/// The name of a fault, and its explanation.
struct FaultName {
    let name: String
    let explanation: String

    static func all<Kind: CaseIterable & RawRepresentable<String>>(
        _: Kind.Type, _ explanation: (Kind) -> String
    ) -> [FaultName] {
        Kind.allCases.map { FaultName(name: $0.rawValue, explanation: explanation($0)) }
    }
}

/// A fault of the certificates of the next HTTPS connections.
struct CertificateFault: CountedFault {
    var fault: Kind
    @OneByDefault var count: Int

    static let counted = "connections"
    static let members: [BodyMember] = ["fault", "count"]

    enum Kind: String, Codable, Sendable, CaseIterable {
        case wrongHost = "wrong-host"
        case expired
        case unknownIssuer = "unknown-issuer"

        /// A description of the certificate.
        var explanation: String {
            switch self {
            case .wrongHost: "valid, but only for the name wrong.example"
            case .expired: "with the right name, but expired the day before the start of the simulator"
            case .unknownIssuer: "with the right name, but from an untrusted authority"
            }
        }
    }

    func check() throws(StoreError) { try checkCount() }
}

extension ServiceState {
    /// Signs all evidence of a transaction, and records it for later requests of `verifyReceipt`. Signed data has the
    /// date of the last change.
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
        var signed = try SignedTransactionTemplate(transaction, in: store, isForDevice: true)
        keepDate(of: &signed, \.signedDate, transaction.transactionID)
        let renewalInfo = store.state.subscriptions[transaction.originalTransactionID].map {
            RenewalInfoTemplate(
                $0, transaction: signed, currency: product.currency, signedDate: store.signingTime,
                invitations: transaction.seats?.invitations)
        }.map { template in
            var template = template
            keepDate(of: &template, \.signedDate, "renewal \(transaction.transactionID)")
            return template
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
