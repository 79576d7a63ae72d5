public import PurchaseVerification

/// The identifiers of this device that the App Store puts into its evidence.
public protocol DeviceIdentity: Sendable {
    /// The identifiers that an app receipt may be made for, the likeliest first: `identifierForVendor` on iOS; the
    /// network addresses of the built-in interfaces on the Mac, `en0` and `en1` first. The receipt must fit one of
    /// them. Empty if the system names none now, as before the first unlock.
    func receiptIdentifiers() async -> [DeviceIdentifier]

    /// `AppStore.deviceVerificationID`, which signed transactions are made for; `nil` if the system names none now.
    func deviceVerificationID() async -> DeviceIdentifier?
}
