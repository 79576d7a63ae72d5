public import PurchaseVerification

/// What somebody sent, before anything is known of it.
public struct PurchaseSubmission: Sendable {
    /// The app whose key it came with.
    public var app: RegisteredApp
    public var keyID: String?
    public var sourceAddress: String?
    public var receivedAt: Timestamp
    public var productID: String?
    public var transactionID: String?
    public var orderID: String?
    public var customerID: String?
    public var quantity: Int64?
    /// The evidence as it was sent.
    public var evidence: [UInt8]?
    /// What is wrong with the request itself, if whoever read it found something.
    public var flaw: Rejection?

    /// A submission with nothing in it yet.
    public init(app: RegisteredApp, receivedAt: Timestamp) {
        self.app = app
        self.receivedAt = receivedAt
    }

    /// The claim, if the fields that it needs are there.
    func claim() throws(Rejection) -> PurchaseClaim {
        if let flaw { throw flaw }
        guard let evidence, !evidence.isEmpty else {
            throw Rejection(.fieldMissing, expected: "receipt_data or signed_transaction")
        }
        let productID = try Self.field("product_id", productID)
        let transactionID = try Self.field("transaction_id", transactionID)
        let orderID = try orderID.map { value throws(Rejection) in try Self.field("order_id", value) }
        let customerID = try customerID.map { value throws(Rejection) in try Self.field("customer_id", value) }
        guard orderID != nil || customerID != nil else {
            throw Rejection(.fieldMissing, expected: "order_id or customer_id")
        }
        if let quantity, quantity < 1 {
            throw Rejection(.fieldMalformed, expected: "a quantity from 1", found: "\(quantity)")
        }
        return PurchaseClaim(
            productID: productID, transactionID: transactionID, orderID: orderID, customerID: customerID,
            quantity: quantity)
    }

    private static func field(_ name: String, _ value: String?) throws(Rejection) -> String {
        guard let value, !value.isEmpty else { throw Rejection(.fieldMissing, expected: name) }
        guard LedgerText.isIdentifier(value) else {
            throw Rejection(
                .fieldMalformed,
                expected:
                    "\(name) of at most \(LedgerText.identifierBytes) bytes, without control characters, and not white space alone"
            )
        }
        return value
    }
}

/// What text the ledger takes.
public enum LedgerText {
    /// The longest identifier, in bytes of UTF-8: those of the App Store have at most 100 characters.
    public static let identifierBytes = 256

    /// Whether a text can be an identifier of a customer, an order, a product or a transaction. Control characters are refused:
    /// they mislead whoever reads a log, and PostgreSQL does not take the first of them. So is white space alone, which nobody
    /// means.
    public static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count <= identifierBytes && !text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// A text as the record keeps it, whatever it is: without control characters, and with 512 bytes at most.
    static func recorded(_ text: String?) -> String? {
        guard let text else { return nil }
        let clean = String(
            String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
        // One character may be as long as the whole text, with all that combines with it.
        return clean.utf8.count <= 512 ? clean : String(clean.unicodeScalars.prefix(127)) + "…"
    }
}
