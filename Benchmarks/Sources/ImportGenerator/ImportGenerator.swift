import EvidenceMint
import Foundation

/// Writes CSV for `assay import` to standard output: minted app receipts with one purchase each, and no transaction
/// twice.
///
///     import-generator COUNT AUTHORITY-FOLDER > receipts.csv
///
/// Signing a receipt with RSA takes about a millisecond, so receipts are minted on all cores. Three of four customers
/// have one receipt, and every tenth receipt proves a period that has ended.
@main
struct ImportGenerator {
    private static let batch = 512
    private static let bundleID = "com.example.app"
    private static let moment = Date(timeIntervalSince1970: 1_700_000_000)

    static func main() async throws {
        guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[1]), count > 0 else {
            try FileHandle.standardError.write(
                contentsOf: Data("usage: import-generator COUNT AUTHORITY-FOLDER > receipts.csv\n".utf8))
            exit(2)
        }
        let authority = try AppStoreAuthority(folder: URL(fileURLWithPath: CommandLine.arguments[2], isDirectory: true))
        let output = FileHandle.standardOutput
        try output.write(contentsOf: Data("customer_id,receipt_data,imported_at\n".utf8))
        let cores = ProcessInfo.processInfo.activeProcessorCount
        var start = 0
        while start < count {
            try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<cores where start < count {
                    let range = start..<min(count, start + batch)
                    start = range.upperBound
                    group.addTask { try rows(range, authority) }
                }
                for try await rows in group { try output.write(contentsOf: rows) }
            }
        }
    }

    private static func rows(_ numbers: Range<Int>, _ authority: AppStoreAuthority) throws -> Data {
        let encoder = AppReceiptEncoder(authority: authority.receipts)
        var rows = Data()
        for number in numbers {
            let transaction = "\(2_000_000_000_000_000 + number * 7)"
            let purchase: PurchaseTemplate
            if number % 10 == 9 {
                purchase = .subscription(
                    productID: "\(bundleID).monthly", transactionID: transaction, purchaseDate: moment,
                    expiresDate: moment.addingTimeInterval(30 * 86_400))
            } else {
                purchase = .consumable(
                    productID: "\(bundleID).coins", transactionID: transaction, purchaseDate: moment)
            }
            let receipt = try encoder.encode(
                .production(
                    bundleID: bundleID, creationDate: moment, purchases: [purchase], device: AppReceiptTemplate.noDevice
                ))
            let customer = number % 4 == 3 ? number - 1 : number
            rows += Data("customer-\(customer),".utf8) + Data(receipt).base64EncodedData()
            rows += Data(",2023-11-14T22:13:20Z\n".utf8)
        }
        return rows
    }
}
