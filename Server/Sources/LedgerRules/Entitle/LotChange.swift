import PurchaseVerification

/// What the change of one lot does to balances: a function of the lot before and after, and of the units that were
/// taken from it.
package struct LotChange: Sendable, Equatable {
    /// A lot of a customer, as it is stored.
    package struct Lot: Sendable, Equatable {
        package var owner: CustomerNumber
        /// The number of the product.
        package var product: Int64
        package var quantity: Int64
        /// Units that Apple withdrew.
        package var withdrawn: Int64
        /// Units that the owner consumed.
        package var taken: Int64
        package var purchasedAt: Timestamp
        /// Why units were withdrawn; `nil` if none were.
        package var reason: NoAccessReason?

        package init(
            owner: CustomerNumber, product: Int64, quantity: Int64, withdrawn: Int64 = 0, taken: Int64 = 0,
            purchasedAt: Timestamp, reason: NoAccessReason? = nil
        ) {
            (self.owner, self.product, self.quantity, self.withdrawn) = (owner, product, quantity, withdrawn)
            (self.taken, self.purchasedAt, self.reason) = (taken, purchasedAt, reason)
        }

        /// The stored form of a lot of which nothing was used; `nil` if it is held.
        package init?(_ lot: ConsumableLot, product: Int64) {
            guard let owner = lot.owner else { return nil }
            self.init(
                owner: owner, product: product, quantity: lot.quantity, withdrawn: lot.quantity - lot.units(at: nil),
                purchasedAt: lot.date, reason: lot.denial(at: nil))
        }

        /// The part of the lot in the balance of a customer.
        package func part(of customer: CustomerNumber, taken: Int64) -> ConsumableBalance {
            ConsumableBalance(units: customer == owner ? quantity - withdrawn : 0, taken: taken)
        }
    }

    /// One row that changes.
    package enum Step: Sendable, Equatable {
        case delete
        case write(Lot, isNew: Bool)
        /// A customer's balance of a product, and its shortfall, change by these numbers.
        case add(remaining: Int64, shortfall: Int64, to: CustomerNumber, product: Int64)
        /// The reason of an empty balance can be another one.
        case explain(CustomerNumber, product: Int64)
    }

    /// The lot afterwards.
    package let lot: Lot?
    /// The rows, in the order in which they are written: the newest lot explains an empty balance, so lots come first.
    package let steps: [Step]

    /// - Parameters:
    ///   - lot: the lot afterwards; its taken units follow from `takes`.
    ///   - takes: the units that each customer took from it.
    package init(from former: Lot?, to lot: Lot?, takes: [CustomerNumber: Int64]) {
        var lot = lot
        if let owner = lot?.owner { lot?.taken = takes[owner] ?? 0 }
        self.lot = lot
        guard lot != former else {
            steps = []
            return
        }
        if let lot, let former, lot.product != former.product {
            // The units of the lot are subtracted from the balance of its former product.
            steps = Self.steps(from: former, to: nil, takes) + Self.steps(from: nil, to: lot, takes)
        } else {
            steps = Self.steps(from: former, to: lot, takes)
        }
    }

    private static func steps(from former: Lot?, to lot: Lot?, _ takes: [CustomerNumber: Int64]) -> [Step] {
        guard let product = (lot ?? former)?.product else { return [] }
        var steps: [Step] = [lot.map { .write($0, isNew: former == nil) } ?? .delete]
        for customer in Set(takes.keys).union([lot?.owner, former?.owner].compactMap(\.self)).sorted() {
            let taken = takes[customer] ?? 0
            // A lot that is gone adds nothing, however many units were consumed: its product is not known when it
            // becomes one again.
            let before = former?.part(of: customer, taken: taken) ?? ConsumableBalance()
            let after = lot?.part(of: customer, taken: taken) ?? ConsumableBalance()
            // A new owner gets a balance, even if it is empty.
            let isNewOwner = customer == lot?.owner && customer != former?.owner
            steps.append(
                before == after && !isNewOwner
                    ? .explain(customer, product: product)
                    : .add(
                        remaining: after.remaining - before.remaining, shortfall: after.shortfall - before.shortfall,
                        to: customer, product: product))
        }
        return steps
    }
}
