import PurchaseVerification

import struct Foundation.UUID

/// An event with the ids and names of the rows that it refers to.
struct NamedEvent: Sendable {
    let key: Int64
    let customerKey: Int64?
    let originalKey: Int64?
    let type: String
    let at: Timestamp
    let entryID: UUID
    let customer: String?
    let formerCustomer: String?
    /// The owner of a purchase that the customer claimed.
    let ownerCustomer: String?
    let environment: String?
    let productID: String?
    let transactionID: String?
    let originalTransactionID: String?
    let orderID: UUID?
    let figures: EventFigures
    /// The price of the transaction.
    let price: PurchasePrice?
    /// Whether the customer is a tester now.
    let isTester: Bool

    /// The columns of an event and of the rows that it refers to.
    static let columns = """
        events.event_key, events.customer_key, events.original_key, events.type, journal.at, journal.entry_id, customers.name, former.name,
        environments.name, products.product_id, transactions.transaction_id, originals.original_id, orders.order_id,
        events.figures, transactions.facts, testers.customer_key
        """

    /// The rows that an event refers to. An event whose row was removed is still returned.
    static let joins = """
        LEFT JOIN journal ON journal.entry_key = events.entry_key
        LEFT JOIN customers ON customers.customer_key = events.customer_key
        LEFT JOIN customers AS former ON former.customer_key = events.former_key
        LEFT JOIN products ON products.product_key = events.product_key
        LEFT JOIN transactions ON transactions.transaction_key = events.transaction_key
        LEFT JOIN originals ON originals.original_key = events.original_key
        LEFT JOIN orders ON orders.order_key = events.order_key
        LEFT JOIN environments ON environments.environment_key = coalesce(events.environment, transactions.environment)
        LEFT JOIN testers ON testers.app_key = events.app_key AND testers.customer_key = events.customer_key
        """

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        customerKey = try reader.optionalInteger()
        originalKey = try reader.optionalInteger()
        type = try reader.text()
        at = try reader.time()
        entryID = try reader.id()
        customer = try reader.optionalText()
        let other = try reader.optionalText()
        (formerCustomer, ownerCustomer) = type == EventType.claimConflict.rawValue ? (nil, other) : (other, nil)
        environment = try reader.optionalText()
        productID = try reader.optionalText()
        transactionID = try reader.optionalText()
        originalTransactionID = try reader.optionalText()
        orderID = try reader.optionalID()
        let encoded = try reader.blob()
        do throws(FactsDecodingError) {
            figures = try EventFigures(encoded: encoded)
        } catch {
            throw LedgerStorageError(.corrupt, "the figures of event \(key) cannot be read: \(error)")
        }
        if let facts = try reader.optionalBlob(), let transactionID {
            let key = TransactionKey(
                environment: AppStoreEnvironment(environment ?? ""), transactionID: ExactText(transactionID))
            do throws(FactsDecodingError) {
                price = try ObservedTransaction(key: key, encoded: facts).price
            } catch {
                throw LedgerStorageError(error, of: "transaction \(transactionID)")
            }
        } else {
            price = nil
        }
        isTester = try reader.optionalInteger() != nil
    }

    /// Events of one lane are delivered in order: those of a customer, and those of an original that nobody owns.
    /// Events of neither have one lane.
    var lane: Int64 { customerKey ?? originalKey.map { -$0 } ?? 0 }
}
