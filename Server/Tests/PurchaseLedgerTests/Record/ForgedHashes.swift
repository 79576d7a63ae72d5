import Crypto
import Foundation
import PurchaseLedger
import PurchaseVerification

/// Every hash that an attacker with write access to the database and without a key can recompute: the hash of details
/// in each leaf, the leaves, the tiles and the root of the Merkle log.
enum ForgedHashes {
    /// Changes each leaf to match its row and details, and recomputes the log. The triggers must be dropped first.
    static func computeAgain(_ connection: any LedgerConnection) throws {
        let rows = try connection.rows(
            """
            SELECT journal.entry_key, journal.leaf, journal.entry_id, journal.at, journal.kind, journal.code, journal.salt,
                journal.details, customers.reference, orders.order_id, evidence.sha256, apps.name
            FROM journal LEFT JOIN customers ON customers.customer_key = journal.customer_key
            LEFT JOIN orders ON orders.order_key = journal.order_key
            LEFT JOIN evidence ON evidence.evidence_key = journal.evidence_key
            LEFT JOIN apps ON apps.app_key = journal.app_key
            """, [])
        for row in rows {
            guard case .blob(let stored) = row.values[1], let leaf = leaf(of: row.values, stored), leaf != stored else {
                continue
            }
            try connection.execute("UPDATE journal SET leaf = ?1 WHERE entry_key = ?2", [.blob(leaf), row.values[0]])
        }
        try ForgedLog.computeAgain(connection)
    }

    /// The leaf that a row would have; `nil` if a column has no value that a leaf can have.
    private static func leaf(of row: [LedgerValue], _ stored: [UInt8]) -> [UInt8]? {
        guard var leaf = JournalLeaf(bytes: stored), let id = row[2].id, case .integer(let at) = row[3],
            case .integer(let number) = row[4], let kind = UInt8(exactly: number).flatMap(JournalKind.init(rawValue:)),
            case .text(let code) = row[5]
        else { return nil }
        (leaf.id, leaf.at, leaf.kind, leaf.code) = (id, Timestamp(millisecondsSince1970: at), kind, code)
        if case .text(let name) = row[11] { leaf.app = name }
        leaf.customer = row[8].id ?? leaf.customer
        leaf.order = row[9].id ?? leaf.order
        if case .blob(let sha256) = row[10], sha256.count == 32 { leaf.evidence = sha256 }
        if case .blob(let salt) = row[6], case .blob(let details) = row[7],
            let json = JSONShorthand.expanded(details)
        {
            leaf.details = Array(SHA256.hash(data: salt + json))
        }
        return leaf.bytes
    }
}

extension LedgerValue {
    /// An id of 16 bytes.
    fileprivate var id: UUID? {
        guard case .blob(let bytes) = self else { return nil }
        return UUID(bytes: bytes)
    }
}
