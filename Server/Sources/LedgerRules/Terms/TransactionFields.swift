import PurchaseVerification

/// The fields of `ObservedTransaction`, with the witnesses that the merge compares.
package struct TransactionFields: Sendable, Hashable {
    var bundleID: Witnessed<ExactText>?
    var originalTransactionID: Witnessed<ExactText>?
    var productID: Witnessed<ExactText>?
    var kind: Witnessed<ProductKind>?
    var subscriptionGroupID: Witnessed<ExactText>?
    var purchaseDate: Witnessed<Timestamp>?
    var originalPurchaseDate: Witnessed<Timestamp>?
    var quantity: Witnessed<Int64>?
    var lineItemID: Witnessed<ExactText>?
    var ownershipType: Witnessed<ExactText>?
    var price: Witnessed<PurchasePrice>?
    var storefront: Witnessed<Storefront>?
    var offer: Witnessed<PurchaseOffer>?
    var reason: Witnessed<ExactText>?
    var appTransactionID: Witnessed<ExactText>?
    var productNumber: Witnessed<UInt64>?
    var otherClaims: Witnessed<CanonicalBytes>?
    /// The latest end of a receipt.
    var receiptEnd: Timestamp?
    /// The end in the newest signed data that has one.
    var signedEnd: Witnessed<Timestamp>?
    var firstEnd: Timestamp?
    var revocation: StampedRevocation?
    package var cancellation: Timestamp?
    var upgrade: StampedUpgrade?
    package var accountToken: StampedToken?
    /// The latest date of a revocation or cancellation that was ever stated; at least that of the current ones.
    package var lastWithdrawal: Timestamp?
    var seats: StampedSeats?

    /// The latest date of the current revocation and cancellation. A revocation of nothing has none.
    var currentWithdrawalDate: Timestamp? {
        let revoked = revocation?.revocation.flatMap { $0.share > 0 ? $0.date : nil }
        return [revoked, cancellation].compactMap(\.self).max()
    }

    package init() {}
}
