import PurchaseVerification

import struct Foundation.UUID

/// Everything that was erased, by all erasures of a journal.
struct Erasures: Sendable {
    /// The kept details, by entry; the inner value is `nil` if none were kept.
    private(set) var entries: [UUID: [UInt8]?] = [:]
    private(set) var evidence: Set<[UInt8]> = []
    /// The rest of the facts of the transactions.
    private(set) var transactions: [TransactionKey: ObservedTransaction] = [:]
    /// When the customer of each transaction was erased.
    private(set) var times: [TransactionKey: Timestamp] = [:]
    private(set) var originals: Set<OriginalKey> = []
    /// The orders of the customers that transactions of others paid, by the time of the payment.
    private(set) var paidByOthers: [Timestamp: [CustomerErasedDetails.Payment]] = [:]
    /// The entries that erased the customers, by their references.
    private(set) var customers: [UUID: UUID] = [:]

    /// No erasures.
    init() {}

    /// Reads the erasures of a journal. An erasure whose details were changed is ignored.
    init(of connection: any LedgerConnection) throws(LedgerStorageError) {
        for row in try JournalTable(connection: connection).rows(kind: Int64(JournalKind.customerErased.rawValue)) {
            guard let leaf = JournalLeaf(bytes: row.leaf), leaf.kind == .customerErased, let salt = row.salt,
                let details = row.details, Journal.digest(salt: salt, details: details) == leaf.details
            else { continue }
            add(try CustomerErasedDetails(encoded: details), by: row.id, at: leaf.at)
        }
        let elsewhere = try AppMovedDetails.From.of(connection)?.erased ?? []
        evidence.formUnion(elsewhere.map { [UInt8](hexadecimal: $0) })
    }

    private mutating func add(_ details: CustomerErasedDetails, by entry: UUID, at time: Timestamp) {
        for erased in details.entries {
            guard let id = UUID(uuidString: erased.id) else { continue }
            entries[id] = .some(erased.kept.map { Array($0.utf8) })
        }
        for payment in details.paidByOthers {
            let time = Timestamp(millisecondsSince1970: payment.paidAt ?? 0)
            paidByOthers[time, default: []].append(payment)
        }
        for sha256 in details.evidence { evidence.insert([UInt8](hexadecimal: sha256)) }
        for transaction in details.transactions {
            let facts = transaction.facts
            transactions[facts.key] = facts
            times[facts.key] = time
            originals.insert(facts.original)
        }
        for customer in details.customers.compactMap({ UUID(uuidString: $0) }) { customers[customer] = entry }
    }
}
