import ArgumentParser
import EvidenceMint
import Foundation

/// The kinds of evidence that `assay mint` makes.
enum MintKind: String, CaseIterable, ExpressibleByArgument {
    case sandbox, production, vpp, mac, xcode
    case transactionV2 = "transaction-v2"
    case transactionV3 = "transaction-v3"
    case transactionV4 = "transaction-v4"
    case signedTransaction = "signed-transaction"
    case renewalInfo = "renewal-info"
    case appTransaction = "app-transaction"
    case notification

    /// The form that the evidence has.
    var form: Form {
        switch self {
        case .sandbox, .production, .vpp, .mac, .xcode: .appReceipt
        case .transactionV2: .transactionReceipt(.two)
        case .transactionV3: .transactionReceipt(.three)
        case .transactionV4: .transactionReceipt(.four)
        case .signedTransaction, .renewalInfo, .appTransaction, .notification: .signedPayload
        }
    }

    enum Form {
        case appReceipt, transactionReceipt(TransactionReceiptVersion), signedPayload
    }

    /// The names of the faults that it can have; Xcode's receipts can have none.
    var faults: [String] {
        switch self {
        case .xcode: []
        case .sandbox, .production, .vpp, .mac: ReceiptFault.allCases.map(\.rawValue)
        case .transactionV2, .transactionV3, .transactionV4: TransactionReceiptFault.allCases.map(\.rawValue)
        case .signedTransaction: SignedPayloadFault.applicable(to: Self.sample).map(\.rawValue)
        case .renewalInfo:
            SignedPayloadFault.applicable(to: RenewalInfoTemplate(transaction: Self.sample)).map(\.rawValue)
        case .appTransaction:
            SignedPayloadFault.applicable(to: AppTransactionTemplate(bundleID: "a", creationDate: .distantPast))
                .map(\.rawValue)
        case .notification:
            SignedPayloadFault.applicable(to: NotificationTemplate(notificationType: "TEST", transaction: Self.sample))
                .map(\.rawValue)
        }
    }

    /// Any transaction: whether a fault applies depends on which claims exist, not on their values.
    private static let sample = SignedTransactionTemplate(
        purchase: .consumable(productID: "a", transactionID: "1", purchaseDate: .distantPast), bundleID: "a")
}
