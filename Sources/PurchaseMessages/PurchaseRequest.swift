/// `POST /v1/purchases`: evidence, and the purchase that its sender claims with it.
public struct PurchaseRequest: Codable, Sendable, Equatable {
    /// An app receipt or a transaction receipt, in base64.
    public var receiptData: String?
    /// Any JWS of the App Store that states the transaction: a signed transaction of StoreKit 2, or a notification.
    public var signedTransaction: String?
    public var productID: String
    public var transactionID: String
    /// The order that it pays.
    public var orderID: String?
    /// The customer who receives the purchase.
    public var customerID: String?
    /// The expected quantity, which must equal the purchased one.
    public var quantity: Int64?
    /// Whether the app made this customer without an account, as a guest.
    public var guest: Bool?
    /// Whether the answer shall have all entitlements of the customer.
    public var account: Bool?

    /// A claim with one of the first two, and at least one of order and customer.
    public init(
        receiptData: String? = nil, signedTransaction: String? = nil, productID: String, transactionID: String,
        orderID: String? = nil, customerID: String? = nil, quantity: Int64? = nil, guest: Bool? = nil,
        account: Bool? = nil
    ) {
        (self.receiptData, self.signedTransaction, self.productID) = (receiptData, signedTransaction, productID)
        (self.transactionID, self.orderID, self.customerID) = (transactionID, orderID, customerID)
        (self.quantity, self.guest, self.account) = (quantity, guest, account)
    }

    package enum CodingKeys: String, CodingKey {
        case quantity, guest, account
        case receiptData = "receipt_data"
        case signedTransaction = "signed_transaction"
        case productID = "product_id"
        case transactionID = "transaction_id"
        case orderID = "order_id"
        case customerID = "customer_id"
    }
}

/// `POST /v1/restores`: evidence from which a customer gets every purchase that is theirs.
public struct RestoreRequest: Codable, Sendable, Equatable {
    public var customerID: String
    /// An app receipt or a transaction receipt, in base64.
    public var receiptData: String?
    /// Signed transactions of StoreKit 2.
    public var signedTransactions: [String]?
    /// The app transaction of the device, signed within the last hour. It lets a restore take over the purchase of a
    /// guest (`guest_restore`).
    public var appTransaction: String?
    /// Whether the customer asked for the restore. Otherwise it transfers nothing.
    public var requested: Bool?
    /// Whether the app made this customer without an account, as a guest.
    public var guest: Bool?
    /// Whether the answer shall have all entitlements of the customer.
    public var account: Bool?

    /// The maximum number of signed transactions in one request.
    public static let signedTransactionLimit = 100

    /// The evidence of a customer; either of the two kinds.
    public init(
        customerID: String, receiptData: String? = nil, signedTransactions: [String]? = nil,
        appTransaction: String? = nil, requested: Bool? = nil, guest: Bool? = nil, account: Bool? = nil
    ) {
        (self.customerID, self.receiptData, self.signedTransactions) = (customerID, receiptData, signedTransactions)
        (self.appTransaction, self.requested, self.guest, self.account) = (appTransaction, requested, guest, account)
    }

    package enum CodingKeys: String, CodingKey {
        case requested, guest, account
        case customerID = "customer_id"
        case receiptData = "receipt_data"
        case signedTransactions = "signed_transactions"
        case appTransaction = "app_transaction"
    }
}
