import PurchaseVerification

import struct Foundation.UUID

/// The customer and the order that a claim names.
struct ClaimParties {
    private(set) var customer: CustomerRow?
    /// The order, if it belongs to the customer.
    private(set) var order: OrderRow?
    private var isOrderOfAnother = false

    /// Neither a customer nor an order.
    init() {}

    /// A customer who is known, and an order of theirs.
    init(_ customer: CustomerRow, order: OrderRow?) { (self.customer, self.order) = (customer, order) }

    /// Reads the customer and the order. A new customer is created; an order implies its customer.
    init(of claim: ClaimFields, _ transaction: LedgerTransaction, _ app: RegistryApp) throws(LedgerStorageError) {
        guard let orderID = claim.orderID else {
            if let name = claim.customerID { customer = try transaction.customerToWrite(name, app) }
            return
        }
        guard let id = UUID(uuidString: orderID), let found = try transaction.orders.row(id: id),
            found.appKey == app.key
        else { return }
        let owner = try transaction.customers.surviving(try transaction.customers.row(found.customerKey))
        if let name = claim.customerID, try transaction.customer(name, app)?.key != owner.key {
            isOrderOfAnother = true
            return
        }
        if claim.customerID == nil { try transaction.lock(customers: { [owner.key] }) }
        (customer, order) = (owner, found)
    }

    /// The parties for the rules.
    func named(by claim: ClaimFields) -> NamedParties {
        NamedParties(orderID: claim.orderID, isOrderOfAnother: isOrderOfAnother, hasCustomer: customer != nil)
    }
}
