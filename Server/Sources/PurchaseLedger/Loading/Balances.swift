/// The balances and shortfalls that a change leaves, by customer.
typealias Balances = [Int64: (balance: Int64, shortfall: Int64)]
