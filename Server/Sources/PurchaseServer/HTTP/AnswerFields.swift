import HTTPTypes

// The fallbacks cannot happen: both names are valid tokens.
extension HTTPField.Name {
    /// The stable code of an answer that refuses something.
    static let assayReason = HTTPField.Name("Assay-Reason") ?? .server
    /// The time for which the answer holds.
    static let assayState = HTTPField.Name("Assay-State") ?? .server
}
