import PurchaseVerification

/// `bundle_bound`.
struct BundleBoundDetails: JournalDetails {
    static var kind: JournalKind { .bundleBound }
    var bundleID: String
}
