public import PurchaseVerification

/// What somebody claims to have bought, and for whom.
public struct PurchaseClaim: Sendable, Equatable {
    /// The product.
    public var productID: String
    /// The transaction; it is decisive where evidence holds several.
    public var transactionID: String
    /// The order that it pays.
    public var orderID: String?
    /// The customer it is for; `nil` leaves it to the order.
    public var customerID: String?
    /// How many, if the client says so.
    public var quantity: Int64?

    /// A claim.
    public init(
        productID: String, transactionID: String, orderID: String? = nil, customerID: String? = nil,
        quantity: Int64? = nil
    ) {
        self.productID = productID
        self.transactionID = transactionID
        self.orderID = orderID
        self.customerID = customerID
        self.quantity = quantity
    }
}

/// What became of the evidence.
public enum PurchaseProof: Sendable {
    /// It is genuine, of this app, and holds these purchases.
    case verified([ProvenPurchase])
    /// The core refused it.
    case refused(VerificationError)
    /// It is genuine, but of a kind that proves no purchase.
    case unsuitable(EvidenceKind)
}
