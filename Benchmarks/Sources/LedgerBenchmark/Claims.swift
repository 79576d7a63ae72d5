import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification

/// The evidence that is submitted: one purchase each, and none twice.
enum Claims: String, CaseIterable {
    case signedTransactions = "signed transactions"
    case appReceipts = "app receipts"

    static let moment = Date(timeIntervalSince1970: 1_700_000_000)
    static let product = "com.example.app.coins"

    static func transactionID(_ number: Int) -> String { "\(2_000_000_000_000_000 + number * 7)" }
    /// Two purchases of each customer, far from each other.
    static func customer(_ number: Int, of count: Int) -> String { "customer-\(number * 7919 % max(1, count / 2))" }

    func evidence(count: Int, authority: AppStoreAuthority) throws -> [[UInt8]] {
        try (0..<count).map { number in
            let purchase = PurchaseTemplate.consumable(
                productID: Self.product, transactionID: Self.transactionID(number), purchaseDate: Self.moment)
            switch self {
            case .signedTransactions:
                let template = SignedTransactionTemplate(purchase: purchase, bundleID: "com.example.app")
                return Array(try SignedPayloadEncoder(authority: authority).encode(template).utf8)
            case .appReceipts:
                let template = AppReceiptTemplate.sandbox(
                    bundleID: "com.example.app", creationDate: Self.moment, purchases: [purchase])
                let receipt = try AppReceiptEncoder(authority: authority.receipts).encode(template)
                return Array(Data(receipt).base64EncodedData())
            }
        }
    }

    /// Writes the input of a load generator: the anchors, and one request per line.
    static func export(count: Int, authority: AppStoreAuthority, to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, root) in [("receipts", authority.receipts.root), ("payloads", authority.signedPayload.root)] {
            try Data(root.certificate).write(to: folder.appending(path: "\(name).der"))
        }
        for (claims, name) in [(Self.signedTransactions, "signed"), (.appReceipts, "receipts")] {
            let evidence = try claims.evidence(count: count, authority: authority)
            var requests = Data()
            var receipts = Data()
            for (number, evidence) in evidence.enumerated() {
                let text = String(decoding: evidence, as: UTF8.self)
                requests += Data(
                    """
                    {"receipt_data":"\(text)","product_id":"\(product)","transaction_id":"\(transactionID(number))",\
                    "customer_id":"\(customer(number, of: count))"}\n
                    """.utf8)
                if claims == .appReceipts { receipts += Data(#"{"receipt-data":"\#(text)"}\#n"#.utf8) }
            }
            try requests.write(to: folder.appending(path: "\(name).ndjson"))
            if claims == .appReceipts { try receipts.write(to: folder.appending(path: "verify.ndjson")) }
        }
    }
}
