import Crypto
import PurchaseVerification

import struct Foundation.UUID

/// Compares journal entries with their leaves, and evidence with its hashes.
struct JournalCheck {
    let connection: any LedgerConnection
    let erasures: Erasures

    /// An entry that was checked.
    struct Entry {
        var findings: [AuditFinding] = []
        /// Its evidence.
        var evidence: EvidenceRow?
        /// The decoded details of a claim, which are those of the leaf.
        var claim: ClaimDetails?
    }

    /// Checks one entry.
    ///
    /// - Parameter entry: gets the findings and what was read, also if an error ends the check.
    func check(_ row: JournalRow, apps: [Int64: String], _ entry: inout Entry) throws(LedgerStorageError) {
        if let key = row.evidenceKey { entry.evidence = try EvidenceTable(connection: connection).row(key: key) }
        guard let leaf = JournalLeaf(bytes: row.leaf), leaf.bytes == row.leaf else {
            entry.findings.append(AuditFinding(kind: .leafMalformed, detail: "entry \(row.key)"))
            return
        }
        func compare(_ column: String, _ isEqual: Bool) {
            guard !isEqual else { return }
            entry.findings.append(AuditFinding(kind: .columnDiffers, detail: "entry \(row.key): \(column)"))
        }
        compare("entry_id", leaf.id == row.id)
        compare("at", leaf.at == row.at)
        compare("kind", Int64(leaf.kind.rawValue) == row.kind)
        compare("code", leaf.code.isSame(as: row.code))
        compare("app_key", leaf.app.isSame(as: row.appKey == 0 ? "" : apps[row.appKey]))
        compare("customer_key", try reference(of: row.customerKey) == leaf.customer)
        let order = try row.orderKey.flatMap { key throws(LedgerStorageError) in
            try OrdersTable(connection: connection).row(key: key)
        }
        compare("order_key", order?.id == leaf.order)
        compare("evidence_key", entry.evidence?.sha256 == leaf.evidence)
        if leaf.kind == .claim || leaf.kind == .decision, leaf.evidence == nil,
            leaf.code.isSame(as: DecisionCode.accepted.rawValue)
        {
            entry.findings.append(AuditFinding(kind: .grantWithoutEvidence, detail: "entry \(row.key)"))
        }
        guard let salt = row.salt, let details = row.details else {
            guard erasures.entries[row.id] == nil else { return }
            entry.findings.append(
                AuditFinding(kind: .missingWithoutErasure, detail: "the details of entry \(row.key)"))
            return
        }
        guard Journal.digest(salt: salt, details: details) == leaf.details else {
            entry.findings.append(AuditFinding(kind: .detailsChanged, detail: "entry \(row.key)"))
            return
        }
        if let finding = try transactionFinding(of: row, leaf, details, &entry.claim) {
            entry.findings.append(finding)
            return
        }
        let isPrefix = entry.evidence?.content.flatMap(StoredContent.form) == .prefix
        if isPrefix, try UnverifiedPart(leaf.kind, details: details) != .prefix {
            entry.findings.append(
                AuditFinding(kind: .evidenceChanged, detail: "the evidence of entry \(row.key) was stored whole"))
        }
    }

    /// The finding if the transaction of a claim's entry is not the one that its details name.
    private func transactionFinding(
        of row: JournalRow, _ leaf: JournalLeaf, _ details: [UInt8], _ decoded: inout ClaimDetails?
    ) throws(LedgerStorageError) -> AuditFinding? {
        guard leaf.kind == .claim || leaf.kind == .decision else { return nil }
        let claim: ClaimDetails
        do throws(LedgerStorageError) {
            if leaf.kind == .claim {
                claim = try ClaimDetails(encoded: details)
                decoded = claim
            } else {
                claim = try DecisionDetails(encoded: details).decided
            }
        } catch {
            return AuditFinding(kind: .auditIncomplete, detail: "entry \(row.key): \(error.detail)")
        }
        guard try !isTransaction(row.transactionKey, of: claim) else { return nil }
        return AuditFinding(kind: .columnDiffers, detail: "entry \(row.key): transaction_key")
    }

    private func isTransaction(_ key: Int64?, of claim: ClaimDetails) throws(LedgerStorageError) -> Bool {
        guard let key else { return claim.outcomes.count != 1 || !claim.outcomes.contains(where: \.binds) }
        guard let row = try TransactionsTable(connection: connection).row(key) else { return false }
        let named = claim.outcomes.map(\.transactionID) + [claim.transactionID].compactMap(\.self)
        return named.isEmpty || named.contains { $0.isSame(as: row.transactionID) }
    }

    private func reference(of customer: Int64?) throws(LedgerStorageError) -> UUID? {
        guard let customer else { return nil }
        return try CustomersTable(connection: connection).row(customer).reference
    }

    /// The findings about pieces of evidence after a key.
    ///
    /// - Returns: the findings, the last key, and the number of pieces that were read.
    func evidence(
        after key: Int64, limit: Int64
    ) throws(LedgerStorageError) -> (findings: [AuditFinding], last: Int64?, count: Int) {
        let rows = try EvidenceTable(connection: connection).rows(after: key, limit: limit)
        return (evidence(rows), rows.last?.key, rows.count)
    }

    /// The findings about pieces of evidence.
    func evidence(_ rows: [EvidenceRow]) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        for row in rows {
            guard row.content != nil else {
                guard !erasures.evidence.contains(row.sha256) else { continue }
                findings.append(AuditFinding(kind: .missingWithoutErasure, detail: "evidence \(row.key)"))
                continue
            }
            do throws(LedgerStorageError) {
                _ = try EvidenceStore(connection: connection).bytes(row)
            } catch {
                findings.append(AuditFinding(kind: .evidenceChanged, detail: error.detail))
            }
        }
        return findings
    }

    /// The findings about shared parts of evidence after a key.
    ///
    /// - Returns: the findings, and the last key.
    func evidenceParts(
        after key: Int64, limit: Int64
    ) throws(LedgerStorageError) -> (findings: [AuditFinding], last: Int64?) {
        var findings: [AuditFinding] = []
        let rows = try EvidencePartsTable(connection: connection).rows(after: key, limit: limit)
        for row in rows {
            // A missing part is an error only if evidence uses it: an erasure deletes parts.
            guard let content = row.content, !(SHA256.hash(data: content) == row.sha256) else { continue }
            findings.append(
                AuditFinding(kind: .evidenceChanged, detail: "part \(row.key) of evidence does not match its hash"))
        }
        return (findings, rows.last?.key)
    }
}

/// Evidence by its hash, as it was sent.
public struct EvidenceByHash: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var sha256: [UInt8]

    /// The evidence with a hash.
    public init(sha256: [UInt8]) { self.sha256 = sha256 }

    public func answer(_ reader: LedgerTransaction) throws -> [UInt8]? {
        try EvidenceStore(connection: reader.connection).bytes(sha256: sha256)
    }
}
