import Crypto
import PurchaseVerification

import struct Foundation.UUID

/// Compares journal entries with their leaves, and evidence with its hashes.
struct JournalCheck {
    let connection: any LedgerConnection
    let erasures: Erasures

    /// The findings about one entry.
    func findings(of row: JournalRow, apps: [Int64: String]) throws(LedgerStorageError) -> [AuditFinding] {
        guard let leaf = JournalLeaf(bytes: row.leaf), leaf.bytes == row.leaf else {
            return [AuditFinding(kind: .leafMalformed, detail: "entry \(row.key)")]
        }
        var findings: [AuditFinding] = []
        func compare(_ column: String, _ isEqual: Bool) {
            if !isEqual { findings.append(AuditFinding(kind: .columnDiffers, detail: "entry \(row.key): \(column)")) }
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
        let evidence = try row.evidenceKey.flatMap { key throws(LedgerStorageError) in
            try EvidenceTable(connection: connection).row(key: key)
        }
        compare("evidence_key", evidence?.sha256 == leaf.evidence)
        if leaf.kind == .claim || leaf.kind == .decision, leaf.evidence == nil,
            leaf.code.isSame(as: DecisionCode.accepted.rawValue)
        {
            findings.append(AuditFinding(kind: .grantWithoutEvidence, detail: "entry \(row.key)"))
        }
        let isPrefix = evidence?.content.flatMap(StoredContent.form) == .prefix
        guard let salt = row.salt, let details = row.details else {
            guard erasures.entries[row.id] == nil else { return findings }
            findings.append(AuditFinding(kind: .missingWithoutErasure, detail: "the details of entry \(row.key)"))
            return findings
        }
        if Journal.digest(salt: salt, details: details) != leaf.details {
            findings.append(AuditFinding(kind: .detailsChanged, detail: "entry \(row.key)"))
        } else if let finding = try transactionFinding(of: row, leaf, details) {
            findings.append(finding)
        } else if isPrefix, try UnverifiedPart(leaf.kind, details: details) != .prefix {
            findings.append(
                AuditFinding(kind: .evidenceChanged, detail: "the evidence of entry \(row.key) was stored whole"))
        }
        return findings
    }

    /// The finding if the transaction of a claim's entry is not the one that its details name.
    private func transactionFinding(
        of row: JournalRow, _ leaf: JournalLeaf, _ details: [UInt8]
    ) throws(LedgerStorageError) -> AuditFinding? {
        guard leaf.kind == .claim || leaf.kind == .decision else { return nil }
        let claim: ClaimDetails
        do throws(LedgerStorageError) {
            claim =
                leaf.kind == .claim
                ? try ClaimDetails(encoded: details) : try DecisionDetails(encoded: details).decided
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
        var findings: [AuditFinding] = []
        let rows = try EvidenceTable(connection: connection).rows(after: key, limit: limit)
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
        return (findings, rows.last?.key, rows.count)
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
