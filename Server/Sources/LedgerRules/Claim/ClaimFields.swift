import PurchaseVerification

/// The fields of a claim, as far as the request could be read.
public struct ClaimFields: Sendable, Equatable {
    public var productID: String?
    public var transactionID: String?
    public var orderID: String?
    public var customerID: String?
    public var quantity: Int64?

    /// A claim without fields.
    public init() {}

    /// Checks the fields that a claim needs.
    ///
    /// - Throws: `field_missing`, `field_malformed`.
    package func requireComplete(hasEvidence: Bool) throws(Rejection) {
        guard hasEvidence else {
            throw Rejection(.fieldMissing, expected: "receipt_data or signed_transaction")
        }
        try Self.require("product_id", productID)
        try Self.require("transaction_id", transactionID)
        if let orderID { try Self.require("order_id", orderID) }
        if let customerID { try Self.require("customer_id", customerID) }
        guard orderID != nil || customerID != nil else {
            throw Rejection(.fieldMissing, expected: "order_id or customer_id")
        }
        if let quantity, quantity < 1 {
            throw Rejection(.fieldMalformed, expected: "a quantity from 1", found: "\(quantity)")
        }
    }

    private static func require(_ name: String, _ value: String?) throws(Rejection) {
        guard let value, !value.utf8.isEmpty else { throw Rejection(.fieldMissing, expected: name) }
        guard ExactText(value).isIdentifier else {
            throw Rejection(
                .fieldMalformed,
                expected: "\(name) of at most \(ExactText.identifierBytes) bytes without control characters")
        }
    }
}
