import PurchaseVerification

import struct Foundation.UUID

/// The rows that an erasure of a customer affects.
struct ErasureScope {
    let transaction: LedgerTransaction
    let app: RegistryApp
    /// The customer, and everybody who was merged into them.
    let customers: [CustomerRow]
    /// The entries whose details are deleted.
    private(set) var entries: [JournalRow] = []
    /// The evidence whose bytes are deleted: SHA-256 by key.
    private(set) var evidence: [Int64: [UInt8]] = [:]
    private(set) var keptEvidence = 0
    /// The transactions that stay claimed: those that the customer owns, and those without an owner that only the
    /// customer's deleted evidence proves.
    private(set) var rows: [TransactionRow] = []

    var connection: any LedgerConnection { transaction.connection }
    /// The keys of the customers.
    var keys: Set<Int64> { Set(customers.map(\.key)) }

    init(of customer: CustomerRow, _ transaction: LedgerTransaction, _ app: RegistryApp) throws {
        self.transaction = transaction
        self.app = app
        customers = try Self.group(of: customer, transaction)
        for row in customers {
            rows += try transaction.transactions.order(of: row.key).rows().filter { !$0.isErased }
        }
        try findEntries()
        try findEvidence()
        rows.sort { $0.key < $1.key }
    }

    /// The customer, and all who were merged into them, directly or through others.
    private static func group(
        of customer: CustomerRow, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> [CustomerRow] {
        var group = [customer]
        var rest = try transaction.customers.merged(appKey: customer.appKey)
        while true {
            let keys = Set(group.map(\.key))
            let found = rest.filter { $0.mergedInto.map(keys.contains) ?? false }
            guard !found.isEmpty else { return group.sorted { $0.key < $1.key } }
            group += found
            rest.removeAll { row in found.contains { $0.key == row.key } }
        }
    }

    // MARK: Entries

    private mutating func findEntries() throws(LedgerStorageError) {
        let journal = JournalTable(connection: connection)
        var found: [JournalRow] = []
        for customer in customers { found += try journal.rows(customer: customer.key) }
        // App Store notifications about the purchases.
        for row in rows {
            found += try journal.anonymousRows(transaction: row.key)
                .filter { [JournalKind.evidence, .notification].map { Int64($0.rawValue) }.contains($0.kind) }
        }
        found += try notificationsOfDownloads()
        var seen: Set<Int64> = []
        entries = found.filter { $0.details != nil && seen.insert($0.key).inserted }.sorted { $0.key < $1.key }
    }

    /// The notifications that name a download of the app with which the customer bought something or claimed a seat.
    /// They are rare.
    private func notificationsOfDownloads() throws(LedgerStorageError) -> [JournalRow] {
        var downloads = Set(rows.compactMap(\.appTransactionID).map { ExactText($0) })
        for customer in customers {
            let seats = try SeatsTable(connection: connection).rows(of: customer.key)
            downloads.formUnion(seats.compactMap(\.appTransactionID).map { ExactText($0) })
        }
        guard !downloads.isEmpty else { return [] }
        var found: [JournalRow] = []
        let index = NotificationList.index(app.key, type: NotificationType.rescindConsent.rawValue)
        for row in try NotificationList.order([index], connection).rows() {
            guard let details = row.details,
                let id = try NotificationDetails(encoded: details).appTransactionID, downloads.contains(ExactText(id))
            else { continue }
            found.append(row)
        }
        return found
    }

    // MARK: Evidence

    private mutating func findEvidence() throws {
        let (table, keys) = (EvidenceTable(connection: connection), keys)
        let candidates = Set(entries.compactMap(\.evidenceKey)).union(try refusedEvidence(table)).sorted()
        let shared = Set(
            try JournalTable(connection: connection).customers(namingEvidence: candidates)
                .filter { !keys.contains($0.customer) }.map(\.evidence))
        var proofs: [Int64: Proof] = [:]
        for key in candidates {
            guard let row = try table.row(key: key), row.content != nil else { continue }
            // Of much evidence that failed verification, only the start is stored. It proves nothing.
            let bytes = try EvidenceStore(connection: connection).bytes(row)
            guard !shared.contains(key), let proof = try bytes.map({ try self.proof($0, row, keys) }) ?? Proof()
            else {
                keptEvidence += 1
                continue
            }
            evidence[key] = row.sha256
            proofs[key] = proof
        }
        // Evidence about the subscription of a held transaction that is not erased is kept, and so is every held
        // transaction that such evidence proves.
        while true {
            let erased = Set(proofs.values.flatMap(\.held.keys))
            let kept = proofs.filter { !$0.value.subscribed.isSubset(of: erased) }.keys
            guard !kept.isEmpty else { break }
            keptEvidence += kept.count
            for key in kept { (evidence[key], proofs[key]) = (nil, nil) }
        }
        rows += proofs.values.reduce(into: [:]) { $0.merge($1.held) { row, _ in row } }.values
    }

    /// The transactions without an owner that evidence is about.
    private struct Proof {
        /// Those that it proves.
        var held: [Int64: TransactionRow] = [:]
        /// Those of the subscriptions of which it states renewal info or a status, such as copies of family members.
        var subscribed: Set<Int64> = []
    }

    /// The evidence that only entries of refusals name.
    private func refusedEvidence(_ table: EvidenceTable) throws(LedgerStorageError) -> Set<Int64> {
        var keys: Set<Int64> = []
        for entry in entries where entry.kind == Int64(JournalKind.refusals.rawValue) {
            guard let details = entry.details else { continue }
            for hash in try RefusalsDetails(encoded: details).kept {
                if let row = try table.row(sha256: [UInt8](hexadecimal: hash)) { keys.insert(row.key) }
            }
        }
        return keys
    }

    /// The unowned transactions that evidence is about; `nil` if it also proves something that belongs to another
    /// customer.
    private func proof(_ bytes: [UInt8], _ evidence: EvidenceRow, _ keys: Set<Int64>) throws -> Proof? {
        guard let verifier = transaction.verifier else {
            throw LedgerStorageError(.other, "an erasure needs a verifier")
        }
        let examined = EvidenceExaminer(verifier: verifier).examine(bytes)
        let observation: Observation
        switch examined.verified {
        case .success(let proven): observation = proven
        case .failure(let error):
            // An App Store reply has no signature.
            let wasGenuine = entries.contains {
                $0.evidenceKey == evidence.key && $0.kind != Int64(JournalKind.appStoreAnswer.rawValue)
                    && ReasonCode(rawValue: $0.code) == nil
            }
            guard wasGenuine else { return Proof() }
            throw LedgerStorageError(
                .other,
                """
                evidence \(evidence.sha256.hexadecimal) was accepted before and is refused now (\(error.code.rawValue)), so \
                its purchases are not known; name the certificates that the server trusts
                """)
        }
        var proof = Proof()
        for facts in observation.transactionFacts {
            let environment = try transaction.environments.keyToWrite(of: facts.key.environment)
            guard let row = try transaction.transactions.row(facts.key, environment: environment), !row.isErased else {
                continue
            }
            guard let owner = row.ownerKey else {
                proof.held[row.key] = row
                continue
            }
            if !keys.contains(owner) { return nil }
        }
        for key in Set(observation.renewals.map(\.key) + observation.statuses.map(\.key)) {
            let environment = try transaction.environments.keyToWrite(of: key.environment)
            let id = key.originalTransactionID.string
            for original in try OriginalsTable(connection: connection).rows(id: id, environment: environment) {
                for row in try transaction.transactions.rows(originalKey: original.key) where !row.isErased {
                    guard let owner = row.ownerKey else {
                        proof.subscribed.insert(row.key)
                        continue
                    }
                    if !keys.contains(owner) { return nil }
                }
            }
        }
        return proof
    }
}
