/// The rows that entries are about.
struct TouchedRows: Sendable {
    var originals: Set<Int64> = []
    var customers: Set<Int64> = []
    /// The entries of evidence about an original that do not name its transaction.
    var evidence: [Int64: Set<Int64>] = [:]

    mutating func formUnion(_ other: TouchedRows) {
        originals.formUnion(other.originals)
        customers.formUnion(other.customers)
        evidence.merge(other.evidence) { $0.union($1) }
    }
}
