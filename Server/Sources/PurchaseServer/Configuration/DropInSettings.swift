/// How `verifyReceipt` answers for the receipts of an app.
public struct DropInSettings: Sendable, Equatable {
    /// The app.
    public var app: String
    /// Which receipts are recorded.
    public var recording = Recording.off
    /// The answer to a receipt whose customer was erased.
    public var erased = ErasedAnswer.asOfSigning
    /// How long an answer waits for the App Store if signed news about a subscription are missing, in seconds; `nil` if
    /// it is not asked.
    public var askSeconds: Double?

    /// The defaults for an app.
    public init(app: String) { self.app = app }

    /// Which of the receipts that `verifyReceipt` gets are recorded.
    public enum Recording: String, Sendable, CaseIterable {
        case off
        /// Those that are malformed or not authentic.
        case refused
        case all
    }

    /// The answer to a receipt whose customer was erased.
    public enum ErasedAnswer: String, Sendable, CaseIterable {
        /// What the receipt says.
        case asOfSigning = "as_of_signing"
        /// 21010: the account cannot be found or has been deleted.
        case accountNotFound = "account_not_found"
    }
}
