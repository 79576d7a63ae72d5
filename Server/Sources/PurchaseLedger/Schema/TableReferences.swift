/// What the columns of the tables refer to, and what identifies the rows that are referred to.
///
/// The numbers of rows differ between databases of the same ledger, so rows are compared, and renumbered, by what
/// identifies them. A column is known by its name, so one name means the same in every table.
enum TableReferences {
    /// A table whose rows are referred to by number.
    struct Target: Sendable {
        let table: String
        /// The column with the number.
        let number: String
        /// The columns that identify a row in every database of the ledger. They can be references, too.
        let identity: [String]
    }

    /// A column with an original's number, the negative number of a manual grant, or one of the numbers of
    /// `EntitlementRow` for what has neither.
    static let ground = "ground"

    static let targets: [Target] = [
        Target(table: "apps", number: "app_key", identity: ["name"]),
        Target(table: "environments", number: "environment_key", identity: ["name"]),
        Target(table: "customers", number: "customer_key", identity: ["reference"]),
        Target(table: "orders", number: "order_key", identity: ["order_id"]),
        Target(table: "hand_grants", number: "grant_key", identity: ["grant_id"]),
        Target(table: "evidence", number: "evidence_key", identity: ["sha256"]),
        Target(table: "journal", number: "entry_key", identity: ["entry_id"]),
        Target(table: "products", number: "product_key", identity: ["app_key", "product_id"]),
        Target(table: "originals", number: "original_key", identity: ["environment", "original_id", "xcode_second"]),
        Target(
            table: "transactions", number: "transaction_key",
            identity: ["environment", "transaction_id", "xcode_second"]),
    ]

    private static let byTable = Dictionary(targets.map { ($0.table, $0) }, uniquingKeysWith: { first, _ in first })

    static func target(_ table: String) -> Target? { byTable[table] }

    /// The table that a column refers to; `nil` for other columns, and for `ground`.
    static func target(namedBy column: String) -> Target? {
        let table: String? =
            switch column {
            case "app_key": "apps"
            case "environment": "environments"
            case "customer_key", "former_key", "merged_into", "owner_key", "target_key": "customers"
            case "product_key": "products"
            case "original_key", "revoked_original": "originals"
            case "transaction_key", "paid_by": "transactions"
            case "order_key": "orders"
            case "grant_key", "revoked_grant": "hand_grants"
            case "evidence_key": "evidence"
            case "entry_key", "merge_entry", "answer_entry", "decision_entry", "moved_entry": "journal"
            default: nil
            }
        return table.flatMap { byTable[$0] }
    }
}
