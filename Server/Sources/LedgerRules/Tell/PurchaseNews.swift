import PurchaseVerification

/// Something that a write changed about a purchase, as an event tells it to one customer.
package struct PurchaseNews: Sendable, Equatable {
    package let type: EventType
    package let transaction: TransactionKey
    /// The customer whom the event concerns; `nil` if the purchase is held.
    package var customer: CustomerNumber?
    /// The owner before, if it is another one now.
    package var former: CustomerNumber?
    package var units: Int64?
    /// When the access ends.
    package var until: Timestamp?
    package var reason: String?
    package var renewal: RenewalChange?

    package init(_ type: EventType, of transaction: TransactionKey) {
        (self.type, self.transaction) = (type, transaction)
    }

    /// The reason of a transfer for the former owner: the units that they used are now their shortfall.
    static let toAnotherCustomer = "to_another_customer"
    /// The reason of a withdrawal that only the App Store's answer states; the name of such a journal entry.
    package static let appStoreAnswer = "app_store_answer"
}
