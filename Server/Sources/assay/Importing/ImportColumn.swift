import PurchaseAPI

/// The columns of a CSV file, and the members of a line of NDJSON, that `assay import` reads.
enum ImportColumn: String, CaseIterable {
    case customerID = "customer_id"
    case receiptData = "receipt_data"
    case signedTransaction = "signed_transaction"
    case originalTransactionID = "original_transaction_id"
    case transactionID = "transaction_id"
    case orderID = "order_id"
    case importedAt = "imported_at"

    /// All names, for error messages.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// The longest part of a name from a file that an error message shows.
    private static let shownBytes = 64

    /// The column of a name. Names are compared by bytes.
    init?(_ name: [UInt8]) {
        guard let column = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name) }) else { return nil }
        self = column
    }

    /// The error for an unknown column name, with the name that may be meant.
    static func complaint(_ name: [UInt8], of kind: StaticString) -> String {
        let shown = String(decoding: name.prefix(shownBytes), as: UTF8.self)
        let meant = WordSuggestion.nearest(to: shown.lowercased(), among: allCases.map(\.rawValue))
        let hint = meant.map { "did you mean '\($0)'? " } ?? ""
        return "there is no \(kind) '\(shown)'; \(hint)assay import knows \(names)"
    }
}
