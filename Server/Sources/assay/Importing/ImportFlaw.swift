/// Why a row of a file cannot be read as a row of an import.
struct ImportFlaw: Error, Sendable, Equatable {
    /// A stable code.
    enum Code: String, CaseIterable, Sendable {
        /// The row has the wrong format: it is not JSON, a quote is not closed, or the number of fields is wrong.
        case rowMalformed = "row_malformed"
        /// The row is larger than `ImportBytes.rowLimit`.
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
