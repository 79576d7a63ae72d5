import EvidenceMint
import Foundation

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
