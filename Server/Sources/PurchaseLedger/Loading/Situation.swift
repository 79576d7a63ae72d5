import PurchaseVerification

/// What one write knows about the ledger: the rows of its evidence, read before it changes anything, with the effects
/// of its own decisions laid over.
///
/// A write of several pieces of evidence decides each piece on what the pieces before it left. Without a situation it
/// would read its own changes back, and a database on another machine would have to be sent them first.
final class Situation {
    /// The histories, by the number of their original.
    private var histories: [Int64: PurchaseHistory] = [:]
    /// The numbers of the originals that were looked up; `nil` for one that is not stored.
    private var originals: [OriginalKey: Int64?] = [:]
    /// The originals of the transactions that were looked up; `nil` for a transaction that is not stored.
    private var transactions: [TransactionKey: Int64?] = [:]
    /// The transactions that the write inserted.
    private var inserted: Set<Int64> = []
    private var products: [Product: Int64] = [:]
    /// The customers that the write inserted.
    private var customers: [Name: CustomerRow] = [:]
    private var evidence: [[UInt8]: KeptEvidence] = [:]
    /// The orders that the write has changed.
    private var orders: [Int64: OrderRow] = [:]
    /// Whether a claim of the write names an order.
    var namesOrders = false

    private struct Product: Hashable {
        let app: Int64
        let id: ExactText
    }

    private struct Name: Hashable {
        let app: Int64
        let name: ExactText
    }

    // MARK: What is known

    /// The history of an original; `nil` if it was not read.
    func history(_ original: Int64) -> PurchaseHistory? { histories[original] }

    /// Every history that was read.
    var known: [PurchaseHistory] { Array(histories.values) }

    /// The number of an original, or that it is not stored; `nil` if it was not looked up.
    func original(_ key: OriginalKey) -> Int64?? { originals[key] }

    /// The original of a transaction, or that the transaction is not stored; `nil` if it was not looked up.
    func original(of key: TransactionKey) -> Int64?? { transactions[key] }

    /// Whether the write inserted a transaction, so that no entry of an earlier one refers to it.
    func hasInserted(_ transaction: Int64) -> Bool { inserted.contains(transaction) }

    /// The number of a product.
    func product(_ id: String, app: Int64) -> Int64? { products[Product(app: app, id: ExactText(id))] }

    /// A customer that the write inserted. Nobody was merged into them yet, nor they into anybody.
    func customer(_ name: String, app: Int64) -> CustomerRow? { customers[Name(app: app, name: ExactText(name))] }

    /// Genuine evidence that the write has stored or found.
    func evidence(_ sha256: [UInt8]) -> KeptEvidence? { evidence[sha256] }

    /// An order that the write has changed.
    func order(_ key: Int64) -> OrderRow? { orders[key] }

    /// An order that the write has changed and that a transaction paid.
    func order(paidBy transaction: Int64) -> OrderRow? { orders.values.first { $0.paidBy == transaction } }

    /// Whether the write has paid or ended an order.
    func hasClosed(_ order: Int64) -> Bool { orders[order].map { $0.status != .created } ?? false }

    /// Whether no order is open again that was not before.
    var hasOnlyClosedOrders: Bool { orders.values.allSatisfy { $0.status != .created } }

    // MARK: What is read

    func note(_ history: PurchaseHistory) {
        histories[history.original.key] = history
        originals[history.key] = history.original.key
        for record in history.records { transactions[record.facts.key] = history.original.key }
    }

    func note(_ key: OriginalKey, _ original: Int64?) { originals[key] = .some(original) }

    func note(_ key: TransactionKey, _ original: Int64?) { transactions[key] = .some(original) }

    func note(product id: String, app: Int64, _ key: Int64) { products[Product(app: app, id: ExactText(id))] = key }

    func note(_ customer: CustomerRow, named name: String) {
        customers[Name(app: customer.appKey, name: ExactText(name))] = customer
    }

    func note(_ kept: KeptEvidence) { evidence[kept.sha256] = kept }

    // MARK: What is decided

    func note(_ order: OrderRow) { orders[order.key] = order }

    /// Lays the effects of a decision over a history.
    ///
    /// - Parameters:
    ///   - entry: the entry of the decision, under which its acts are written.
    ///   - lot: the lot that it leaves.
    func lay(_ history: PurchaseHistory, entry: Int64, lot: LotRow?) throws(LedgerStorageError) {
        inserted.formUnion(history.records.lazy.filter(\.isNew).map(\.row.key))
        note(try history.written(under: entry, lot: lot))
    }
}

extension PurchaseHistory {
    /// The history as the next decision reads it, once the changes of this one are written.
    fileprivate func written(under entry: Int64, lot: LotRow?) throws(LedgerStorageError) -> PurchaseHistory {
        var written: [TransactionRecord] = []
        for record in records {
            let facts = record.isChanged ? try record.row.observed(in: key.environment) : record.facts
            written.append(TransactionRecord(record.row, facts: facts, productID: record.productID))
        }
        written.sort { $0.row.key < $1.row.key }
        let keys = Dictionary(written.map { ($0.facts.key, $0.row.key) }, uniquingKeysWith: { first, _ in first })
        var acts = acts.filter { keys[$0.transaction] != nil }
        for place in acts.indices where acts[place].entry == nil {
            (acts[place].entry, acts[place].isMerged) = (entry, acts[place].formerKey != nil)
        }
        acts.sort {
            ($0.entry ?? 0, keys[$0.transaction] ?? 0) < ($1.entry ?? 0, keys[$1.transaction] ?? 0)
        }
        var history = PurchaseHistory(original: original, key: key, records: written, acts: acts)
        if history.isSubscription { history.read(RenewalsTable.News(renewal: renewal, statuses: statuses)) }
        (history.formerLot, history.revocations) = (lot, revocations)
        return history
    }
}
