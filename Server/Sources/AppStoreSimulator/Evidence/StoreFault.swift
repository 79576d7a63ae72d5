/// A fault in an app receipt with a valid signature: the receipt is genuine, but does not prove this purchase.
///
/// The raw value is the name of the fault in the control API.
public enum StoreFault: String, CaseIterable, Sendable {
    /// The receipt is made out to another app.
    case wrongBundleID = "wrong-bundle-id"
    /// The receipt is made for another device.
    case otherDevice = "other-device"
    /// The receipt holds no purchase.
    case emptyInApp = "empty-in-app"
    /// The newest purchase is missing; the receipt holds only earlier purchases.
    case replayedTransactionID = "replayed-transaction-id"
    /// The receipt belongs to another customer.
    case otherUsersReceipt = "other-users-receipt"
    /// The receipt of one app and product that was sent by every app in 2012.
    case cannedReceipt = "canned-receipt"

    /// The fault, in one English sentence.
    public var explanation: String {
        switch self {
        case .wrongBundleID: "The receipt belongs to another app."
        case .otherDevice: "The receipt was made for another device."
        case .emptyInApp: "The receipt has no purchases."
        case .replayedTransactionID: "The receipt has older purchases, but not this one."
        case .otherUsersReceipt: "The receipt belongs to another customer."
        case .cannedReceipt: "A genuine receipt of another app and product, sent by every app."
        }
    }
}
