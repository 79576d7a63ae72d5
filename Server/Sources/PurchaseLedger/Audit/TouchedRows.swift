import PurchaseVerification

import struct Foundation.UUID

/// The rows that entries are about.
struct TouchedRows: Sendable {
    var originals: Set<Int64> = []
    var customers: Set<Int64> = []
    /// The evidence of entries that is about an original, by the original.
    var evidence: [Int64: Set<Int64>] = [:]

    mutating func formUnion(_ other: TouchedRows) {
        originals.formUnion(other.originals)
        customers.formUnion(other.customers)
        evidence.merge(other.evidence) { $0.union($1) }
    }

    /// Adds what an entry names, besides its evidence.
    mutating func add(
        _ row: JournalRow, _ leaf: JournalLeaf, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) {
        let transactions = TransactionsTable(connection: connection)
        if let customer = row.customerKey { customers.insert(customer) }
        if let key = row.transactionKey, let named = try transactions.row(key) { originals.insert(named.originalKey) }
        guard let salt = row.salt, let details = row.details,
            Journal.digest(salt: salt, details: details) == leaf.details
        else { return }
        switch leaf.kind {
        case .customerMerged:
            // The entry belongs to the customer who has the purchases now.
            if let customer = row.customerKey { originals.formUnion(try transactions.originals(of: customer)) }
        case .tokenAssigned:
            if let token = UUID(uuidString: try TokenAssignedDetails(encoded: details).token) {
                originals.formUnion(try transactions.originals(token: token, appKey: row.appKey))
            }
        case .revocationAdded, .actLifted:
            if let customer = row.customerKey {
                let acts = try HandGrantsTable(connection: connection).rows(of: customer)
                originals.formUnion(acts.compactMap(\.revokedOriginal))
            }
        case .seatClaimed:
            let claim = try SeatClaimedDetails(encoded: details)
            try add(original: claim.originalID, in: AppStoreEnvironment(claim.environment), connection)
        case .seatUnclaimed:
            let end = try SeatUnclaimedDetails(encoded: details)
            try add(original: end.originalID, in: AppStoreEnvironment(end.environment), connection)
        case .appStoreAnswer:
            let environments = EnvironmentsTable(connection: connection)
            for cancellation in try AppStoreAnswerDetails(encoded: details).cancellations {
                guard let environment = try environments.key(of: cancellation.key.environment),
                    let named = try transactions.row(cancellation.key, environment: environment)
                else { continue }
                originals.insert(named.originalKey)
            }
        default: return
        }
    }

    private mutating func add(
        original id: String, in environment: AppStoreEnvironment, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) {
        guard let key = try EnvironmentsTable(connection: connection).key(of: environment) else { return }
        originals.formUnion(try OriginalsTable(connection: connection).rows(id: id, environment: key).map(\.key))
    }
}
