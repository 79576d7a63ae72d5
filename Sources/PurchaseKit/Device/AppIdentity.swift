public import PurchaseVerification

/// The app, in values that are compiled into it. `Info.plist` is no reference, because it can be changed on the device
/// together with the receipt.
public struct AppIdentity: Sendable {
    public let bundleID: String
    /// The version in receipts: `CFBundleVersion` on iOS, `CFBundleShortVersionString` on the Mac.
    public let version: String
    /// The environments that are accepted, as signed bytes state them. Xcode's evidence verifies only with an added
    /// anchor.
    public let environments: Set<AppStoreEnvironment>

    /// - Parameters:
    ///   - bundleID: the bundle id, as a literal.
    ///   - version: the version, as a literal: `CFBundleVersion` on iOS, `CFBundleShortVersionString` on the Mac.
    ///   - environments: the accepted environments. TestFlight is `sandbox`.
    public init(
        bundleID: String, version: String, environments: Set<AppStoreEnvironment> = [.production, .sandbox]
    ) {
        self.bundleID = bundleID
        self.version = version
        self.environments = environments
    }
}
