import PurchaseVerification

import struct Foundation.UUID

/// `customer_erased`: the erased data, and the part that still affects purchases. It contains no outside names.
struct CustomerErasedDetails: JournalDetails {
    static var kind: JournalKind { .customerErased }
    var reason: String
    /// The customer, and those who had been merged into them.
    var customers: [Customer]
    /// The purchases, which stay claimed.
    var transactions: [Transaction]
    /// Orders of other customers that one of the transactions had paid.
    var payments: [Payment]
    /// The entries whose details were deleted.
    var entries: [Entry]
    /// The SHA-256 of each piece of evidence whose bytes were deleted, in hexadecimal.
    var evidence: [String]

    struct Customer: Codable, Sendable, Equatable {
        /// The random reference in the leaves.
        var reference: String
        /// Account tokens that determine the owners of other purchases, and the reference, if it replaces tokens.
        var tokens: [String]
        /// Those of the tokens whose assignment is kept with its entry; `nil` for none. Erasures before that had none.
        var assigned: [String]?
    }

    struct Transaction: Codable, Sendable, Equatable {
        var environment: String
        var transactionID: String
        var second: Int64?
        var originalID: String
        var originalSecond: Int64?
        var kind: String?
        var isShared: Bool
        var purchasedAt: Int64?
        /// The account token, replaced by a reference.
        var token: String?
    }

    struct Payment: Codable, Sendable, Equatable {
        var order: String
        var environment: String
        var transactionID: String
        var second: Int64?
        var status: String
        var paidAt: Int64?
    }

    struct Entry: Codable, Sendable, Equatable {
        var id: String
        /// The details without names, if they affect other customers' purchases.
        var kept: String?
    }
}

extension CustomerErasedDetails.Transaction {
    var key: TransactionKey {
        TransactionKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(transactionID), second: second ?? 0)
    }

    /// The rest of the facts: enough to determine the owners of the other transactions of the original.
    var facts: ObservedTransaction {
        var statement = TransactionStatement(key: key, source: .signedData, stamp: .epoch)
        statement.originalTransactionID = ExactText(originalID)
        statement.originalPurchaseDate = originalSecond.map { Timestamp(millisecondsSince1970: $0 * 1000) }
        statement.purchaseDate = purchasedAt.map { Timestamp(millisecondsSince1970: $0) }
        statement.kind = kind.flatMap(ProductKind.init(rawValue:))
        statement.ownershipType = isShared ? "FAMILY_SHARED" : nil
        statement.accountToken = token.flatMap { AppAccountToken($0) }
        return ObservedTransaction(statement)
    }
}

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
    /// The customers by reference, with the kept tokens that no entry assigns.
    private(set) var customers: [UUID: [UUID]] = [:]

    /// Reads the erasures of a journal. An erasure whose details were changed is ignored.
    init(of connection: any LedgerConnection) throws(LedgerStorageError) {
        for row in try JournalTable(connection: connection).rows(kind: Int64(JournalKind.customerErased.rawValue)) {
            guard let leaf = JournalLeaf(bytes: row.leaf), leaf.kind == .customerErased, let salt = row.salt,
                let details = row.details, Journal.digest(salt: salt, details: details) == leaf.details
            else { continue }
            add(try CustomerErasedDetails(encoded: details), at: leaf.at)
        }
    }

    private mutating func add(_ details: CustomerErasedDetails, at time: Timestamp) {
        for entry in details.entries {
            guard let id = UUID(uuidString: entry.id) else { continue }
            entries[id] = .some(entry.kept.map { Array($0.utf8) })
        }
        for sha256 in details.evidence { evidence.insert([UInt8](hexadecimal: sha256)) }
        for transaction in details.transactions {
            let facts = transaction.facts
            transactions[facts.key] = facts
            times[facts.key] = time
            originals.insert(facts.original)
        }
        for customer in details.customers {
            guard let reference = UUID(uuidString: customer.reference) else { continue }
            let assigned = Set(customer.assigned ?? [])
            customers[reference] = customer.tokens.filter { !assigned.contains($0) }.compactMap { UUID(uuidString: $0) }
        }
    }
}
