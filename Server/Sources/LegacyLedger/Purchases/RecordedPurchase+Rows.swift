import PurchaseVerification

extension RecordedPurchase {
    static let columns = """
        app, environment, transaction_id, original_transaction_id, product_id, product_type, quantity, customer_id, \
        order_id, kind, state, purchased_at, expires_at, duration, withdrawn_at, recorded_at, submission_id, \
        first_expires_at, web_order_line_item_id
        """

    var values: [LedgerValue] {
        [
            .text(app), .text(environment.name), .text(transactionID), .text(originalTransactionID), .text(productID),
            .text(productKind.rawValue), .integer(quantity), .text(customerID), .text(orderID), .text(kind.rawValue),
            .text(state.rawValue), .time(purchasedAt), .time(expiresAt), .integer(duration), .time(withdrawnAt),
            .time(recordedAt), .text(submissionID), .time(firstExpiresAt), .text(webOrderLineItemID),
        ]
    }

    /// What is granted for good, in words: the event of the grant has it, so that the audit can compare.
    var terms: String {
        var terms = [
            kind.rawValue, productKind.rawValue, "original \(originalTransactionID)", "bought \(purchasedAt)",
        ]
        if let expiresAt { terms.append("until \(expiresAt)") }
        if let firstExpiresAt, firstExpiresAt != expiresAt { terms.append("at first until \(firstExpiresAt)") }
        if let webOrderLineItemID { terms.append("line item \(webOrderLineItemID)") }
        if let duration { terms.append("for \(duration) ms each") }
        return terms.joined(separator: ", ")
    }

    init(_ row: LedgerRow) throws(LedgerStorageError) {
        var reader = RowReader(row)
        app = try reader.text()
        environment = AppStoreEnvironment(try reader.text())
        transactionID = try reader.text()
        originalTransactionID = try reader.text()
        productID = try reader.text()
        productKind = try reader.named(ProductKind.self)
        quantity = try reader.integer()
        customerID = try reader.text()
        orderID = try reader.optionalText()
        kind = try reader.named(AcceptanceKind.self)
        state = try reader.named(PurchaseState.self)
        purchasedAt = try reader.time()
        expiresAt = try reader.optionalTime()
        duration = try reader.optionalInteger()
        withdrawnAt = try reader.optionalTime()
        recordedAt = try reader.time()
        submissionID = try reader.text()
        firstExpiresAt = try reader.optionalTime()
        webOrderLineItemID = try reader.optionalText()
    }
}
