/// The entitlements that one write has changed, so that the write can read a customer's rows without sending its
/// changes to the database first.
final class EntitlementWrites {
    /// A customer's entitlement to a product.
    struct Product: Hashable {
        let customer: Int64
        let product: Int64
        let environment: Int64
    }

    /// The rows by product and ground; `nil` for a deleted row.
    private var rows: [Product: [Int64: EntitlementRow?]] = [:]
    /// Products whose rows were changed by a statement that only the database can evaluate.
    private var unknown: Set<Product> = []
    private var isEverythingUnknown = false
    /// The empty balances whose reasons are written last; `nil` if each is written at once.
    private var unexplained: [Product: EntitlementRow]?

    /// Whether the rows of a product are those of the database with the changes noted here.
    func isKnown(_ product: Product) -> Bool { !isEverythingUnknown && !unknown.contains(product) }

    func note(_ row: EntitlementRow) {
        let product = Product(customer: row.customerKey, product: row.productKey, environment: row.environment)
        rows[product, default: [:]][row.ground] = .some(row)
    }

    func noteDeletion(of product: Product, ground: Int64) {
        rows[product, default: [:]].updateValue(nil, forKey: ground)
    }

    func forget(_ row: EntitlementRow) {
        unknown.insert(Product(customer: row.customerKey, product: row.productKey, environment: row.environment))
    }

    /// Leaves the reasons of empty balances to the end of the write, because later decisions can change the lots.
    func explainLast() { unexplained = [:] }

    /// Notes an empty balance whose reason is written last.
    ///
    /// - Returns: whether reasons are.
    func noteUnexplained(_ row: EntitlementRow) -> Bool {
        guard unexplained != nil else { return false }
        unexplained?[Product(customer: row.customerKey, product: row.productKey, environment: row.environment)] = row
        return true
    }

    /// The balances whose reasons are to be written now.
    func takeUnexplained() -> [EntitlementRow] {
        let rows = unexplained?.values.sorted { ($0.customerKey, $0.productKey) < ($1.customerKey, $1.productKey) }
        unexplained = nil
        return rows ?? []
    }

    func forgetEverything() { isEverythingUnknown = true }

    /// The rows of a product after the changes, ordered by ground.
    ///
    /// - Parameter read: the rows of the database, with or without the changes.
    func applied(to read: [EntitlementRow], of product: Product) -> [EntitlementRow] {
        guard let changed = rows[product] else { return read }
        let unchanged = read.filter { changed[$0.ground] == nil }
        return (unchanged + changed.values.compactMap(\.self)).sorted { $0.ground < $1.ground }
    }
}
