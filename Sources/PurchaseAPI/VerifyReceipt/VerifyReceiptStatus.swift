/// The status codes of `verifyReceipt` (Apple, "status").
public enum VerifyReceiptStatus: Int, Codable, Sendable, CaseIterable {
    case valid = 0
    /// The request was not an HTTP POST, or not JSON.
    case notPosted = 21000
    /// The receipt data is malformed.
    case malformed = 21002
    /// The receipt could not be authenticated.
    case notAuthenticated = 21003
    /// The shared secret is not the one on file.
    case secretMismatch = 21004
    /// The server could not answer at the moment.
    case temporarilyUnavailable = 21005
    /// The receipt is valid, but the subscription has expired; only for receipts of iOS 6 and earlier.
    case expired = 21006
    /// A sandbox receipt at the production address.
    case sandboxReceiptAtProduction = 21007
    /// A production receipt at the sandbox address.
    case productionReceiptAtSandbox = 21008
    /// Internal data access error; try again later.
    case internalError = 21009
    /// The account cannot be found or has been deleted.
    case accountNotFound = 21010
}
