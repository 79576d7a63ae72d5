/// Why a row of a file cannot be read as a row of an import.
struct ImportFlaw: Error, Sendable, Equatable {
    /// A stable code.
    enum Code: String, CaseIterable, Sendable {
        /// The row has not the format of its file: it is not JSON, a quote is not closed, or it has another number of fields.
        case rowMalformed = "row_malformed"
        /// The row is larger than `ImportBytes.rowLimit`.
        case rowTooLarge = "row_too_large"
        /// The row has a member that `assay import` does not know.
        case columnUnknown = "column_unknown"
        case fieldMissing = "field_missing"
        case fieldMalformed = "field_malformed"
    }

    let code: Code
    /// What was found, and what is expected.
    let detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }
}
