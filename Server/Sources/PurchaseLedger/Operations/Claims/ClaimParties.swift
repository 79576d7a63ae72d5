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
    ///
    /// - Parameter recorded: the claims of an entry, whose customer is known.
    init(
        of claim: ClaimFields, _ transaction: LedgerTransaction, _ app: RegistryApp, _ recorded: RecordedClaims? = nil
    ) throws(LedgerStorageError) {
        guard let orderID = claim.orderID else {
            guard let name = claim.customerID else { return }
            if let recorded {
                customer = recorded.customer
            } else {
                customer = try transaction.customerToWrite(name, app, isGuest: claim.isGuest)
            }
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

    /// Why the order that the claim names is refused.
    func refusal(of claim: ClaimFields) -> Rejection? {
        ClaimRules.parties.refusal(
            of: NamedParties(orderID: claim.orderID, isOrderOfAnother: isOrderOfAnother, hasCustomer: customer != nil))
    }
}

extension LedgerTransaction {
    /// The purchase for an order that evidence of several purchases came with: the one that paid the order before, or a
    /// copy of it, otherwise the first one that matches the order.
    func purchase(
        for order: OrderRow, among proven: [ObservedTransaction]
    ) throws(LedgerStorageError) -> ObservedTransaction? {
        if let paidBy = order.paidBy, let row = try transactions.row(paidBy) {
            let paid = try row.observed(in: try environments.environment(row.environment))
            let others = proven.filter { $0.ownership == paid.ownership && $0.key != paid.key }
            let copies =
                PurchaseGrouping.purchases(of: [paid] + others, owners: Ownership(owners: [:])) { _ in nil }
                .first { $0.transactions.contains { $0.key == paid.key } }?.transactions ?? []
            if let match = proven.first(where: { facts in copies.contains { $0.key == facts.key } }) { return match }
        }
        let product = ExactText(try products.id(order.productKey))
        let match = proven.first { facts in
            facts.productID == product && facts.quantity == order.quantity
                && facts.purchaseDate.map {
                    OrderTerms.contains($0, from: order.createdAt, to: order.expiresAt)
                } ?? false
        }
        return match ?? proven.first { $0.productID == product } ?? proven.first
    }
}

/// The claims that a customer made before, whatever became of them.
///
/// A claim that binds is an act. The entry of any other claim refers to its transaction, except that of a restore of
/// several purchases, which lists them in its details.
struct EarlierClaims {
    /// The number of restores of several purchases that are looked through, the newest first.
    static let restores: Int64 = 32

    let changes: LedgerChanges
    let customer: CustomerRow
    /// The transactions in the restores; `nil` before they are read.
    private var restored: Set<TransactionKey>?

    init(_ changes: LedgerChanges, customer: CustomerRow) {
        (self.changes, self.customer) = (changes, customer)
    }

    /// Whether the customer claimed a transaction before.
    mutating func contains(_ record: TransactionRecord, in history: Int) throws(LedgerStorageError) -> Bool {
        guard !record.isNew, customer.key != 0 else { return false }
        if changes.isClaimed(record.facts.key, by: customer.key, in: history) { return true }
        if changes.transaction.situation?.hasInserted(record.row.key) ?? false { return false }
        let journal = JournalTable(connection: changes.connection)
        if try journal.hasClaim(of: customer.key, transaction: record.row.key) { return true }
        if restored == nil {
            var keys: Set<TransactionKey> = []
            for details in try journal.restores(of: customer.key, limit: Self.restores) {
                keys.formUnion(try ClaimDetails(encoded: details).outcomes.compactMap(\.key))
            }
            restored = keys
        }
        return restored?.contains(record.facts.key) ?? false
    }
}
