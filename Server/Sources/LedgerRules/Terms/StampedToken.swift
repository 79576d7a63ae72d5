import PurchaseVerification

/// The account token of the newest signed transaction that has one.
package struct StampedToken: Sendable, Hashable {
    package var stamp: Timestamp
    package var token: AppAccountToken

    package init(stamp: Timestamp, token: AppAccountToken) { (self.stamp, self.token) = (stamp, token) }
}
