import PurchaseVerification

import struct Foundation.UUID

/// The stored facts of originals, with the evidence that entries name for them.
///
/// Facts are a merge in which order plays no part, so the evidence of an original gives its facts again.
struct TouchedFacts: Sendable {
    /// Unsigned statements of the App Store.
    private struct Answer: Sendable {
        var cancellations: [AppStoreAnswer.Cancellation] = []
        var tokens: [AppStoreAnswer.StatedToken] = []
    }

    private struct Original: Sendable {
        let row: OriginalRow
        let key: OriginalKey
        let transactions: [TransactionRow]
    }

    private struct Piece: Sendable {
        let bytes: [UInt8]?
        let appKey: Int64
    }

    /// The customers who own the originals, or acted on them.
    private(set) var customers: Set<Int64> = []
    private var originals: [Original] = []
    private var evidence: [Piece] = []
    private var answers: [Answer] = []
    private var seenEntries: Set<Int64> = []
    private var seenEvidence: Set<Int64> = []

    /// Reads originals.
    ///
    /// - Parameter evidence: for each original, evidence whose entries do not name its transaction.
    init(
        of keys: [Int64], _ evidence: [Int64: Set<Int64>], _ connection: any LedgerConnection
    ) throws(LedgerStorageError) {
        let environments = EnvironmentsTable(connection: connection)
        for key in keys {
            let row = try OriginalsTable(connection: connection).row(key)
            let environment = try environments.environment(row.environment)
            let transactions = try TransactionsTable(connection: connection).rows(originalKey: key)
            originals.append(
                Original(
                    row: row,
                    key: OriginalKey(
                        environment: environment, transactionID: ExactText(row.originalID), second: row.xcodeSecond),
                    transactions: transactions))
            var pieces = evidence[key] ?? []
            pieces.formUnion(transactions.map(\.evidenceKey))
            pieces.formUnion(try Self.evidenceOfRenewals(row, connection))
            var persons = Set(transactions.compactMap(\.ownerKey))
            for transaction in transactions {
                try read(
                    try JournalRow.all("WHERE transaction_key = ?1", [.integer(transaction.key)], connection), &pieces)
            }
            for act in try OwnershipActsTable(connection: connection).rows(originalKey: key) {
                persons.formUnion([act.row.customerKey, act.row.formerKey].compactMap(\.self))
                try read(
                    [try JournalTable(connection: connection).row(key: act.row.entryKey)].compactMap(\.self), &pieces)
            }
            try Self.addMerged(to: &persons, connection)
            for person in persons.subtracting(customers) {
                try read(
                    try JournalRow.all(
                        "WHERE customer_key = ?1 AND kind = 3 AND transaction_key IS NULL",
                        [.integer(person)], connection), &pieces)
                try read(
                    try JournalTable(connection: connection).rows(
                        customer: person, kind: Int64(JournalKind.appStoreAnswer.rawValue)), &pieces)
            }
            customers.formUnion(persons)
            for piece in pieces.subtracting(seenEvidence).sorted() where piece != 0 {
                seenEvidence.insert(piece)
                guard let stored = try EvidenceTable(connection: connection).row(key: piece) else { continue }
                self.evidence.append(
                    Piece(bytes: try EvidenceStore(connection: connection).bytes(stored), appKey: row.appKey))
            }
        }
    }

    /// Adds the customers who were merged into others: their entries keep their names.
    private static func addMerged(
        to customers: inout Set<Int64>, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) {
        var unread = customers
        while let customer = unread.popFirst() {
            for row in try connection.rows(
                "SELECT customer_key FROM customers WHERE merged_into = ?1", [.integer(customer)])
            {
                var reader = row.reader
                let merged = try reader.integer()
                if customers.insert(merged).inserted { unread.insert(merged) }
            }
        }
    }

    private static func evidenceOfRenewals(
        _ original: OriginalRow, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [Int64] {
        var keys: [Int64] = []
        for row in try connection.rows(
            "SELECT evidence_key FROM renewals WHERE environment = ?1 AND original_id = ?2",
            [.integer(original.environment), .text(original.originalID)])
        {
            var reader = row.reader
            keys.append(try reader.integer())
        }
        return keys
    }

    /// Notes the evidence of entries, and what the App Store stated in them.
    private mutating func read(_ rows: [JournalRow], _ pieces: inout Set<Int64>) throws(LedgerStorageError) {
        for row in rows where seenEntries.insert(row.key).inserted {
            guard let leaf = JournalLeaf(bytes: row.leaf) else { continue }
            let isObserved = try Self.isObserved(row, leaf)
            if isObserved, let key = row.evidenceKey { pieces.insert(key) }
            guard let salt = row.salt, let details = row.details,
                Journal.digest(salt: salt, details: details) == leaf.details
            else { continue }
            switch leaf.kind {
            case .appStoreAnswer:
                answers.append(Answer(cancellations: try AppStoreAnswerDetails(encoded: details).cancellations))
            case .decision where isObserved:
                let decision = try DecisionDetails(encoded: details)
                answers.append(Answer(cancellations: decision.cancellations, tokens: decision.tokens))
            default: continue
            }
        }
    }

    /// Whether the evidence of an entry was observed: that of a claim is not while it waits for the App Store, or if
    /// the App Store refused it.
    static func isObserved(_ row: JournalRow, _ leaf: JournalLeaf) throws(LedgerStorageError) -> Bool {
        guard leaf.kind != .appStoreAnswer, DecisionCode(rawValue: leaf.code)?.isWithoutEffect != true else {
            return false
        }
        guard leaf.kind == .claim, let salt = row.salt, let details = row.details,
            Journal.digest(salt: salt, details: details) == leaf.details
        else { return true }
        return try ClaimDetails(encoded: details).appStore != .waits
    }

    /// The evidence, for verification.
    var pieces: [[UInt8]?] { evidence.map(\.bytes) }

    /// Computes the facts in an empty ledger, and compares them with the stored ones.
    ///
    /// - Parameter examined: the verified pieces.
    func findings(
        _ examined: [ExaminedEvidence?], _ registry: Registry, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> [AuditFinding] {
        let transaction = LedgerTransaction(connection: connection, now: .epoch, registry: registry)
        var computed: [TransactionKey: ObservedTransaction] = [:]
        for app in Set(originals.map(\.row.appKey)).sorted() {
            let settings = registry.apps.first { $0.key == app }?.settings ?? RegisteredApp(id: "", bundleIDs: [])
            let changes = LedgerChanges(transaction, app: RegistryApp(key: app, settings: settings))
            for (piece, evidence) in zip(evidence, examined) where piece.appKey == app {
                guard case .success(let observation) = evidence?.verified else { continue }
                try changes.observe(observation, evidence: 0)
            }
            for answer in answers {
                for cancellation in answer.cancellations { try changes.observe(cancellation) }
                for token in answer.tokens { try changes.observe(token) }
            }
            for history in changes.histories {
                for record in history.records { computed[record.facts.key] = record.facts }
            }
        }
        var findings: [AuditFinding] = []
        for original in originals {
            for row in original.transactions where !row.isErased {
                let key = TransactionKey(
                    environment: original.key.environment, transactionID: ExactText(row.transactionID),
                    second: row.xcodeSecond)
                let facts = computed[key]
                let isForgotten = try isReference(row.token, appKey: original.row.appKey, connection)
                guard
                    facts?.encoded != row.facts || facts?.original != original.key
                        || facts?.accountToken?.uuid != row.token && !isForgotten
                        || facts?.appTransactionID?.string != row.appTransactionID
                else { continue }
                findings.append(
                    AuditFinding(
                        kind: .rowDiffers,
                        detail: """
                            transactions \(row.transactionID): the facts are not those of the evidence that entries \
                            name for it; if evidence named neither it nor its customers, only a whole audit with \
                            --evidence knows
                            """))
            }
        }
        return findings
    }

    /// Whether a token is the reference of an erased customer, which takes the place of their tokens.
    private func isReference(
        _ token: UUID?, appKey: Int64, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Bool {
        guard let token,
            let found = try AccountTokensTable(connection: connection).assignment(of: token, appKey: appKey)
        else { return false }
        let customer = try CustomersTable(connection: connection).row(found.customer)
        return customer.name == nil && customer.reference == token
    }
}
