import PurchaseVerification

/// An original transaction, which its renewals and restored copies share.
struct OriginalRow: TableRow {
    static let table = Table(
        "originals", key: "original_key", columns: ["environment", "original_id", "xcode_second", "app_key"])

    var key: Int64
    var environment: Int64
    var originalID: String
    var xcodeSecond: Int64
    var appKey: Int64

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        environment = try reader.integer()
        originalID = try reader.text()
        xcodeSecond = try reader.integer()
        appKey = try reader.integer()
    }

    init(_ original: OriginalKey, environment: Int64, appKey: Int64) {
        key = 0
        self.environment = environment
        originalID = original.transactionID.string
        xcodeSecond = original.second
        self.appKey = appKey
    }

    var values: [LedgerValue] {
        [.integer(environment), .text(originalID), .integer(xcodeSecond), .integer(appKey)]
    }
}
