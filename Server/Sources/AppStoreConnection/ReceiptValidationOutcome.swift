/// The outcome of a question to `verifyReceipt`.
public enum ReceiptValidationOutcome: Sendable {
    /// Apple answered with a final status: 0, 21003, 21004, 21006, 21010, or 21007 or 21008 after the switch to the
    /// other environment.
    case conclusive(AppStoreReply)
    /// There is no such answer, which says nothing about the receipt; ask again.
    case undetermined(UndeterminedValidation)
}
