import PurchaseVerification

import struct Foundation.UUID

/// Erases a customer: the outside names of the customer and of everybody merged into them, the details of their
/// entries, and the evidence that concerns nobody else. Leaves and hashes stay, and their purchases stay claimed. It
/// cannot be undone.
public struct EraseCustomer: LedgerOperation {
    public var app: String
    public var customerID: String
    public var reason: String

    /// Erases a customer.
    public init(app: String, customerID: String, reason: String) {
        self.app = app
        self.customerID = customerID
        self.reason = reason
    }

    /// The result of the erasure.
    public struct Outcome: Sendable, Equatable {
        /// Journal entries whose details were deleted.
        public var entries: Int
        /// Pieces of evidence whose bytes were deleted.
        public var evidence: Int
        /// The pieces of evidence that were kept because they prove purchases of others, or because others also sent
        /// them.
        public var keptEvidence: Int
        /// The number of purchases that stay claimed.
        public var transactions: Int
    }

    /// - Throws: `customer_unknown`.
    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        // A copy that stays behind is personal data, too.
        let app = try transaction.app(app, isMovedToo: true)
        guard let customer = try transaction.customer(customerID, app) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        let scope = try ErasureScope(of: customer, transaction, app)
        var draft = transaction.draft(app)
        draft.customer = customer
        let entry = try transaction.journal.append(draft, try scope.details(reason: reason))
        try ErasureWriter(scope: scope, entry: entry).write()
        let events = LedgerEvents(transaction, app: app, entry: entry)
        try transaction.tell(events.event(.customerErased), to: customer.key)
        return Outcome(
            entries: scope.entries.count, evidence: scope.evidence.count, keptEvidence: scope.keptEvidence,
            transactions: scope.rows.count)
    }
}

/// Deletes the data of an erasure, and recomputes the rest of the affected originals.
struct ErasureWriter {
    let scope: ErasureScope
    let entry: JournalEntry

    private var transaction: LedgerTransaction { scope.transaction }
    private var connection: any LedgerConnection { scope.connection }
    private var appKey: Int64 { scope.app.key }

    func write() throws {
        let stubs = try scope.rows.map { try scope.erased($0) }
        let rest = try originalsWithRest()
        try deleteHandGrants()
        for original in Set(scope.rows.map(\.originalKey)).sorted() { try deleteAccess(to: original) }
        for (row, stub) in zip(scope.rows, stubs) {
            try transaction.transactions.erase(row.key, facts: stub.facts, at: transaction.now)
            try ConsumptionRequestsTable(connection: connection).deleteAll(transaction: row.key)
        }
        for stub in stubs { try Self.deleteRest(of: stub.facts, transaction) }
        for customer in scope.customers { try delete(customer) }
        try eraseEvidence()
        for row in scope.entries {
            // A rebuild does not know what an erased notification asked.
            if row.kind == Int64(JournalKind.notification.rawValue) {
                try ConsumptionRequestsTable(connection: connection).delete(row.key)
            }
            try JournalTable(connection: connection).erase(row.key)
        }
        let changes = LedgerChanges(transaction, app: scope.app)
        for original in rest { changes.touch(try changes.history(original)) }
        try changes.settle()
        try changes.finish(entry)
        for key in scope.keys.sorted() { try transaction.entitlements.deleteAll(of: key) }
    }

    /// Deletes the bytes of the evidence, and the shared parts that no other evidence uses.
    private func eraseEvidence() throws(LedgerStorageError) {
        let table = EvidenceTable(connection: connection)
        var parts: [Int64: Int64] = [:]
        for key in scope.evidence.keys.sorted() {
            let content = try table.row(key: key)?.content ?? []
            for part in StoredContent.parts(of: content) { parts[part] = key }
            try table.erase(key)
            try NotificationBodiesTable(connection: connection).delete(evidence: key)
        }
        let store = EvidenceStore(connection: connection)
        for (part, key) in parts.sorted(by: { $0.key < $1.key }) where try !store.isUsed(part: part, near: key) {
            try EvidencePartsTable(connection: connection).erase(part)
        }
    }

    /// The affected originals that also have purchases of others, or unowned ones. A copy of which a manual revocation
    /// ends can belong to another customer now.
    private func originalsWithRest() throws(LedgerStorageError) -> [Int64] {
        var affected = Set(scope.rows.map(\.originalKey))
        for customer in scope.customers {
            let acts = try HandGrantsTable(connection: connection).rows(of: customer.key)
            affected.formUnion(acts.filter(\.revokedShared).compactMap(\.revokedOriginal))
        }
        var originals: [Int64] = []
        for original in affected.sorted() where try scope.hasRest(original) { originals.append(original) }
        return originals
    }

    /// Deletes manual grants and revocations, except revocations that affect others.
    private func deleteHandGrants() throws(LedgerStorageError) {
        let grants = HandGrantsTable(connection: connection)
        for customer in scope.customers {
            for row in try grants.rows(of: customer.key) {
                guard try !scope.isKept(row) else { continue }
                try deleteLot(-row.key)
                try grants.delete(row.key)
            }
        }
    }

    /// Deletes all access that an original gave. The access of its remaining purchases is recomputed.
    private func deleteAccess(to original: Int64) throws(LedgerStorageError) {
        try deleteLot(original)
        try SeatAccessTable(connection: connection).delete(original: original)
        let acts = try OwnershipActsTable(connection: connection).rows(originalKey: original)
        var customers = Set(acts.flatMap { [$0.row.customerKey, $0.row.formerKey].compactMap(\.self) })
        let rows = try transaction.transactions.rows(originalKey: original)
        customers.formUnion(rows.compactMap(\.ownerKey))
        for key in customers {
            customers.insert(try transaction.customers.surviving(try transaction.customers.row(key)).key)
        }
        for customer in customers {
            for row in rows {
                try transaction.entitlements.delete(
                    customer, product: row.productKey, environment: row.environment, ground: original)
            }
        }
    }

    /// Deletes a lot, with its part in balances. The record of the units that others used stays, since only they can
    /// erase it: it counts again if the original has a lot without the erased purchases.
    private func deleteLot(_ ground: Int64) throws(LedgerStorageError) {
        let (lots, takes) = (LotsTable(connection: connection), TakesTable(connection: connection))
        guard let lot = try lots.row(ground) else { return }
        let units = try takes.units(of: ground)
        try lots.delete(ground)
        for customer in Set(units.keys).union([lot.customerKey]).sorted() {
            if ground < 0 || scope.keys.contains(customer) { try takes.delete(ground, of: customer) }
            guard try transaction.customers.row(customer).name != nil else { continue }
            let part = lot.part(of: customer, taken: units[customer] ?? 0)
            let row = EntitlementRow(
                balance: (0, 0), of: customer, product: lot.productKey, environment: lot.environment)
            _ = try transaction.entitlements.add(-part.remaining, shortfall: -part.shortfall, to: row)
        }
    }

    /// Removes the product from manual revocations of an original, since a rebuild does not find it, and deletes
    /// renewal info if the original has no purchases left.
    static func deleteRest(
        of facts: ObservedTransaction, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        let environment = try transaction.environments.keyToWrite(of: facts.key.environment)
        let id = facts.original.transactionID.string
        let originals = try OriginalsTable(connection: transaction.connection).rows(id: id, environment: environment)
        var isEmpty = true
        for original in originals {
            try HandGrantsTable(connection: transaction.connection).forgetProducts(ofOriginal: original.key)
            let rows = try transaction.transactions.rows(originalKey: original.key)
            if !rows.allSatisfy(\.isErased) { isEmpty = false }
        }
        guard isEmpty else { return }
        try RenewalsTable(connection: transaction.connection).delete(id, environment: environment)
        for original in originals {
            try WorkTable(connection: transaction.connection).delete(
                appKey: original.appKey, environment: environment, original: id)
        }
    }

    /// Forgets the tokens of a customer. In the transactions that are known now, the reference takes their place.
    static func forgetTokens(
        of customer: CustomerRow, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        let (table, appKey) = (AccountTokensTable(connection: transaction.connection), customer.appKey)
        for token in try table.tokens(of: customer.key, appKey: appKey) where token != customer.reference {
            try transaction.transactions.replace(token, by: customer.reference, appKey: appKey)
            try table.delete(token, appKey: appKey)
        }
    }

    private func delete(_ customer: CustomerRow) throws(LedgerStorageError) {
        let key = customer.key
        try ConsumptionsTable(connection: connection).deleteAll(of: key)
        try TakesTable(connection: connection).deleteAll(of: key)
        try SeatsTable(connection: connection).erase(of: key)
        try ConsumptionConsentsTable(connection: connection).delete(of: key)
        try OfferSignaturesTable(connection: connection).deleteAll(of: key)
        try RefusedClaimsTable(connection: connection).deleteAll(of: key)
        try transaction.orders.erase(of: key)
        _ = try TestersTable(connection: connection).delete(key, appKey: appKey)
        // A claim without a customer cannot be decided.
        try AppStoreClaimsTable(connection: connection).deleteAll(of: key)
        try IdempotencyTable(connection: connection).deleteAll(of: key)
        // Events refer to customers by key, so events of other customers lose the name when the customer's row is
        // deleted.
        try EventsTable(connection: connection).erase(of: key, appKey: appKey)
        try Self.forgetTokens(of: customer, transaction)
        try AccountTokensTable(connection: connection).insert(
            customer.reference, appKey: appKey, customer: key, entry: entry.key)
        try transaction.customers.erase(key)
    }
}

extension CustomerErasedDetails: LedgerInput {
    /// Applies a recorded erasure. The parts that it kept were already applied with their entries. The erasure itself
    /// is written by `ErasureWriter`, since it also deletes what a rebuild never reads.
    func run(_ write: EntryWrite) throws {
        let (transaction, connection) = (write.transaction, write.connection)
        let changes = LedgerChanges(transaction, app: write.app)
        for erased in transactions { try changes.claim(erased: erased.facts) }
        try changes.settle()
        try changes.finish(write.entry)
        for erased in transactions {
            guard let row = try transaction.row(of: erased.key) else { continue }
            try transaction.transactions.erase(row.key, facts: erased.facts, at: transaction.now)
            try ConsumptionRequestsTable(connection: connection).deleteAll(transaction: row.key)
        }
        for erased in transactions { try ErasureWriter.deleteRest(of: erased.facts, transaction) }
        for reference in customers.compactMap({ UUID(uuidString: $0) }) {
            guard let customer = try transaction.customers.row(reference: reference.bytes) else { continue }
            try ErasureWriter.forgetTokens(of: customer, transaction)
            try transaction.entitlements.deleteAll(of: customer.key)
        }
        for order in try paidByOthers.compactMap({ try $0.order(transaction) }) {
            try transaction.orders.erase(of: order.customerKey)
        }
        for payment in payments {
            guard let id = UUID(uuidString: payment.order), let row = try transaction.row(of: payment.key) else {
                continue
            }
            try transaction.orders.pay(
                id, with: row.key, at: payment.paidAt.map { Timestamp(millisecondsSince1970: $0) }, payment.status)
        }
    }
}

extension CustomerErasedDetails.Payment {
    func order(_ transaction: LedgerTransaction) throws(LedgerStorageError) -> OrderRow? {
        guard let id = UUID(uuidString: order) else { return nil }
        return try transaction.orders.row(id: id)
    }
}

extension LedgerTransaction {
    /// The row of a transaction.
    func row(of key: TransactionKey) throws(LedgerStorageError) -> TransactionRow? {
        try transactions.row(key, environment: try environments.keyToWrite(of: key.environment))
    }
}
