import PurchaseVerification

/// The account token of the newest signed transaction that has one.
struct StampedToken: Sendable, Hashable {
    var stamp: Timestamp
    var token: AppAccountToken
}
