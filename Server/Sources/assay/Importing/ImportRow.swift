import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// A row as written in its file, and its place.
struct ImportRow: Sendable {
    /// The largest row in bytes: the largest evidence that the core reads (16 MiB) and room for the other fields. The
    /// largest real receipt known has 108 kB.
    static let limit = (16 << 20) + (64 << 10)

    /// The line, or the path of the file in a folder.
    let place: String
    let content: Content

    enum Content: Sendable {
        /// The fields of a record, by their columns.
        case fields([ImportColumn: [UInt8]])
        /// A line of NDJSON.
        case json([UInt8])
        case flaw(ImportFlaw)
    }

    /// About as many bytes as it takes in memory.
    var size: Int {
        switch content {
        case .fields(let fields): fields.values.reduce(0) { $0 + $1.count }
        case .json(let json): json.count
        case .flaw: 0
        }
    }

    /// The row as the ledger records it.
    func submission() throws(ImportFlaw) -> ImportSubmission {
        switch content {
        case .fields(let fields): try Self.submission(fields)
        case .json(let json): try Self.submission(Self.fields(of: json))
        case .flaw(let flaw): throw flaw
        }
    }

    /// The number of the purchase, which is used if the row has no evidence; `nil` if it has none.
    func number() throws(ImportFlaw) -> String? {
        switch content {
        case .fields(let fields): try Self.number(fields)
        case .json(let json): try Self.number(Self.fields(of: json))
        case .flaw(let flaw): throw flaw
        }
    }

    private static func number(_ fields: [ImportColumn: [UInt8]]) throws(ImportFlaw) -> String? {
        for column in [ImportColumn.originalTransactionID, .transactionID] {
            guard let number = try text(column, fields) else { continue }
            guard number.utf8.count <= 32, number.utf8.allSatisfy(isDigit) else {
                throw ImportFlaw(.fieldMalformed, "\(column.rawValue) must have 1 to 32 digits")
            }
            return number
        }
        return nil
    }

    private static func submission(_ fields: [ImportColumn: [UInt8]]) throws(ImportFlaw) -> ImportSubmission {
        guard let customer = try text(.customerID, fields) else {
            throw ImportFlaw(.fieldMissing, "customer_id is empty")
        }
        guard ExactText(customer).isIdentifier else {
            throw ImportFlaw(
                .fieldMalformed,
                "customer_id must have 1 to \(ExactText.identifierBytes) bytes and no control characters")
        }
        // Signed data first: it has more facts, and can name one purchase for the order.
        let evidence = [ImportColumn.signedTransaction, .receiptData].compactMap { fields[$0] }.filter { !$0.isEmpty }
        let number = try number(fields)
        guard !evidence.isEmpty || number != nil else {
            throw ImportFlaw(
                .fieldMissing, "the row has neither receipt_data nor signed_transaction nor a transaction id")
        }
        var submission = ImportSubmission(customerID: customer, evidence: evidence)
        submission.orderID = try text(.orderID, fields)
        if let text = try text(.importedAt, fields) {
            guard let time = Timestamp(text) else {
                throw ImportFlaw(
                    .fieldMalformed,
                    "imported_at is '\(text.prefix(shownCharacters))'; write a time such as 2024-01-31T12:00:00Z")
            }
            submission.importedAt = time
        }
        return submission
    }

    /// The longest part of a field that an error message shows.
    private static let shownCharacters = 40

    /// A field; `nil` if it is absent or empty.
    private static func text(_ column: ImportColumn, _ fields: [ImportColumn: [UInt8]]) throws(ImportFlaw) -> String? {
        guard let bytes = fields[column], !bytes.isEmpty else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ImportFlaw(.fieldMalformed, "\(column.rawValue) is not UTF-8; convert the file to UTF-8")
        }
        return text
    }

    private static func fields(of json: [UInt8]) throws(ImportFlaw) -> [ImportColumn: [UInt8]] {
        let document: WrittenJSON
        switch WrittenJSON.read(json, bounds: WrittenJSON.Bounds(values: 65_536)) {
        case .success(let read): document = read
        case .failure(.duplicateName(let offset)):
            throw ImportFlaw(.rowMalformed, "a member is repeated, at byte \(offset) of the line")
        case .failure(.tooMuch(let found)):
            throw ImportFlaw(.rowMalformed, "the line has too many values, or is too long: \(found)")
        case .failure(.malformed(let offset)):
            throw ImportFlaw(.rowMalformed, "the line is not JSON, from byte \(offset) on")
        }
        guard document.isObject else { throw ImportFlaw(.rowMalformed, "the line is not a JSON object") }
        var fields: [ImportColumn: [UInt8]] = [:]
        for member in document.members(of: 0) {
            let name = document.text(of: member.name)
            guard let column = ImportColumn(name) else {
                throw ImportFlaw(.columnUnknown, ImportColumn.complaint(name, of: "member"))
            }
            let text = document.text(of: member.value)
            switch document.nodes[member.value].kind {
            case .string: fields[column] = text
            // Many systems number their customers.
            case .number
            where [.customerID, .originalTransactionID, .transactionID].contains(column) && text.allSatisfy(isDigit):
                fields[column] = text
            case .word where text.elementsEqual("null".utf8): fields[column] = []
            default: throw ImportFlaw(.fieldMalformed, "the member \(column.rawValue) is not a string")
            }
        }
        return fields
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

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

/// Why a row of a file cannot be read as a row of an import.
struct ImportFlaw: Error, Sendable, Equatable {
    /// A stable code.
    enum Code: String, CaseIterable, Sendable {
        /// The row has the wrong format: it is not JSON, a quote is not closed, or the number of fields is wrong.
        case rowMalformed = "row_malformed"
        /// The row is larger than `ImportRow.limit`.
        case rowTooLarge = "row_too_large"
        /// The row has a member that `assay import` does not know.
        case columnUnknown = "column_unknown"
        case fieldMissing = "field_missing"
        /// The App Store does not know the number of a purchase, or does not prove it.
        case numberUnknown = "number_unknown"
        case fieldMalformed = "field_malformed"
    }

    let code: Code
    /// The value found, and the expected one.
    let detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }
}
