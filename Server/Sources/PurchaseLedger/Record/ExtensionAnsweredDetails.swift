/// `extension_answered`: Apple's answer to a request for an extension.
struct ExtensionAnsweredDetails: JournalDetails {
    static var kind: JournalKind { .extensionAnswered }
    var requestID: String
    /// `ExtensionState`.
    var state: String
    /// The new end of the period, in milliseconds since 1970. Apple does not sign it, so it is no fact.
    var effectiveDate: Int64?
    /// Apple's number, if it refused.
    var number: Int64?
}
