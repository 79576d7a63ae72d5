/// A page of a list.
struct ListPage<Row: Encodable & Sendable>: Encodable, Sendable {
    /// The number of rows that the query finds.
    let total: Int
    /// The number of rows before this page.
    let offset: Int
    let items: [Row]
}
