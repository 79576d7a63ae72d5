/// The bundle or suite that a subscription belongs to, by the names that StoreKit 27 gives to apps ("bundleProductID"
/// and others).
///
/// No page says how signed payloads spell these names, so their last letters are read as `ID` and as `Id`. The claims
/// also stay in `otherClaims`, unchanged.
public struct SubscriptionBundle: Sendable, Equatable {
    /// The product of the bundle.
    public let productID: String?
    /// The group of the bundle.
    public let subscriptionGroupID: String?
    /// The transaction of the bundle that produced this one.
    public let transactionID: String?
    /// The first transaction of the bundle.
    public let originalTransactionID: String?
    /// Whether the subscription leaves the bundle with the next period; only in renewal info.
    public let willUnbundle: Bool?

    /// - Returns: `nil` if the claims name no bundle.
    public init?(_ claims: [String: JSONValue]) {
        func text(_ name: String) -> String? { claims["\(name)ID"]?.text ?? claims["\(name)Id"]?.text }
        productID = text("bundleProduct")
        subscriptionGroupID = text("bundleSubscriptionGroup")
        transactionID = text("bundleTransaction")
        originalTransactionID = text("bundleOriginalTransaction")
        willUnbundle = if case .boolean(let flag) = claims["willUnbundle"] { flag } else { nil }
        guard productID != nil || subscriptionGroupID != nil || transactionID != nil || originalTransactionID != nil
        else { return nil }
    }
}

extension TransactionClaims {
    /// The bundle whose purchase produced the transaction.
    public var bundle: SubscriptionBundle? { SubscriptionBundle(otherClaims) }
}

extension RenewalInfoClaims {
    /// The bundle with which the subscription renews.
    public var bundle: SubscriptionBundle? { SubscriptionBundle(otherClaims) }
}
