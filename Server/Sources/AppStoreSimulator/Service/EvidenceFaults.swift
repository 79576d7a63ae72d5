import EvidenceMint
import Foundation
import PurchaseAPI

/// The names of faults for the evidence of one answer.
struct EvidenceFaults: Decodable, Sendable {
    var appReceipt: String?
    var transactionReceipt: String?
    var signedTransaction: String?
    var signedRenewalInfo: String?
    var appTransaction: String?
}

extension EvidenceFaults {
    func check() throws(StoreError) {
        try EvidenceFault.check(appReceipt, of: .appReceipt)
        try EvidenceFault.check(transactionReceipt, of: .transactionReceipt)
        try EvidenceFault.check(signedTransaction, of: .signedTransaction)
        try EvidenceFault.check(signedRenewalInfo, of: .signedRenewalInfo)
        try EvidenceFault.check(appTransaction, of: .appTransaction)
    }
}

/// A fault of the next evidence that the store signs.
struct EvidenceFault: Codable, Equatable, Sendable {
    var kind: Kind
    /// The name of the fault.
    var fault: String
    /// The number of pieces of evidence that the fault still applies to.
    var count: Int

    enum Kind: String, Codable, Sendable, Word {
        case appReceipt = "app_receipt"
        case transactionReceipt = "transaction_receipt"
        case signedTransaction = "signed_transaction"
        case signedRenewalInfo = "signed_renewal_info"
        case appTransaction = "app_transaction"
        case notification
    }
}

/// A fault of the certificates of the next HTTPS connections.
struct CertificateFault: Codable, Equatable, RequestBody {
    var fault: Kind
    /// The number of connections that the fault still applies to.
    @OneByDefault var count: Int

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

    static let members: [BodyMember] = ["fault", "count"]

    func check() throws(StoreError) {
        guard (1...1_000_000).contains(count) else {
            throw StoreError(.invalidValue, "'count' is 1 to 1000000 connections, not \(count).")
        }
    }
}
