import Crypto

/// Reads the record from its first row to its last, and finds what was changed. Then it compares the books with what the record
/// says they must be.
///
/// What it proves: given the head hashes, no row before them was changed, removed, added or moved. What it cannot see: somebody
/// who can write to the file can also compute a whole new chain with new heads. Keep the head hashes elsewhere, and compare.
public struct Audit: Sendable {
    let database: any LedgerDatabase
    let pageSize: Int

    /// An audit of a database.
    public init(_ database: any LedgerDatabase) {
        self.init(database, pageSize: 500)
    }

    init(_ database: any LedgerDatabase, pageSize: Int) {
        self.database = database
        self.pageSize = pageSize
    }

    /// What an audit found.
    public struct Report: Sendable, Equatable {
        /// The heads of the chains, by the name of the table.
        public var heads: [String: ChainHead] = [:]
        /// How many pieces of evidence were read and compared with their names.
        public var evidenceCount: Int64 = 0
        /// What is wrong; empty if all is as it was written.
        public var findings: [Finding] = []
    }

    /// Something that is not as it was written.
    public struct Finding: Sendable, Equatable {
        /// The table.
        public var table: String
        /// The row: its sequence number, or the SHA-256 of a piece of evidence.
        public var row: String
        public var kind: Kind

        /// A finding.
        public init(table: String, row: String, kind: Kind) {
            self.table = table
            self.row = row
            self.kind = kind
        }

        /// What happened to it.
        public enum Kind: String, Sendable, CaseIterable {
            /// Its columns do not have the hash that the chain has: it was changed, or another row stands in its place.
            case changed
            /// It is not there.
            case removed
            /// It is not the one that the head names, or stands behind it.
            case headMismatch = "head_mismatch"
            /// It names evidence that is not there.
            case evidenceMissing = "evidence_missing"
            /// A purchase is granted that no accepted submission tells of.
            case purchaseWithoutSubmission = "purchase_without_submission"
            /// An accepted submission has no purchase.
            case submissionWithoutPurchase = "submission_without_purchase"
            /// It is there, but no event tells of it, or it stands before the first row of the record.
            case unrecorded
        }
    }

    /// Reads everything, in one committed state.
    public func verify() async throws -> Report {
        let pageSize = pageSize
        return try await database.read { connection in
            var report = Report()
            var books = BooksAudit()
            try Self.verify(SubmissionRecord.chain, connection, pageSize, &report) { _ in }
            try Self.verify(LedgerEvent.chain, connection, pageSize, &report) { books.apply($0) }
            try Self.verify(connection, pageSize, &report)
            try Self.verifyPurchases(connection, &report)
            report.findings += try books.findings(connection, pageSize: pageSize)
            return report
        }
    }

    private static func verify(
        _ chain: HashChain, _ connection: any LedgerConnection, _ pageSize: Int, _ report: inout Report,
        _ read: (LedgerRow) -> Void
    ) throws(LedgerStorageError) {
        let head = try chain.head(connection)
        report.heads[chain.name] = head
        var previous = chain.origin
        var sequence: Int64 = 0
        // Rows that somebody put before the first one have numbers that no row has.
        var last = Int64.min
        func find(_ number: Int64, _ kind: Finding.Kind) {
            report.findings.append(Finding(table: chain.name, row: "\(number)", kind: kind))
        }
        /// Each by its number, but for gaps that only a forged number can make.
        func findRemoved(_ first: Int64, through last: Int64) {
            guard first <= last else { return }
            // Both are above 0, so this is no overflow.
            guard last - first < Self.longestGapByNumber else {
                report.findings.append(Finding(table: chain.name, row: "\(first) to \(last)", kind: .removed))
                return
            }
            for missing in first...last { find(missing, .removed) }
        }
        // What has no whole number leads on by its place behind the last one that has.
        var behindLast: Int64 = 0
        var rowsRead: Int64 = 0
        while true {
            let rows = try page(chain, connection, after: last, skipping: behindLast, pageSize)
            rowsRead += Int64(rows.count)
            for row in rows {
                guard case .integer(let number)? = row.values.first else {
                    behindLast += 1
                    let name = BooksComparison.text(row.values, 0)
                    report.findings.append(Finding(table: chain.name, row: name, kind: .unrecorded))
                    continue
                }
                let hash = BooksComparison.text(row.values, row.values.count - 1)
                last = number
                behindLast = 0
                guard number > 0 else {
                    find(number, .unrecorded)
                    continue
                }
                findRemoved(sequence &+ 1, through: number - 1)
                let isBehindGap = number != sequence &+ 1
                let values = Array(row.values.dropFirst().dropLast())
                read(LedgerRow(values: values))
                let expected = chain.hash(previous: previous, sequence: number, values)
                // Behind a gap the hash before is unknown; the gap itself is the finding.
                if expected != hash, !isBehindGap { find(number, .changed) }
                if number > head.count { find(number, .headMismatch) }
                if number == head.count, hash != head.hash { find(number, .headMismatch) }
                previous = hash
                sequence = number
            }
            if rows.count < pageSize { break }
        }
        if sequence < head.count { findRemoved(sequence + 1, through: head.count) }
        try findUnread(chain.name, rowsRead, connection, &report)
    }

    /// Rows that no page can reach, since their key compares with nothing, or with less than any key.
    private static func findUnread(
        _ table: String, _ rowsRead: Int64, _ connection: any LedgerConnection, _ report: inout Report
    ) throws(LedgerStorageError) {
        guard let row = try connection.rows("SELECT COUNT(*) FROM \(table)", []).first,
            case .integer(let count)? = row.values.first, count != rowsRead
        else { return }
        report.findings.append(Finding(table: table, row: "\(count - rowsRead) without a key", kind: .unrecorded))
    }

    private static let longestGapByNumber: Int64 = 10_000

    static func page(
        _ chain: HashChain, _ connection: any LedgerConnection, after sequence: Int64, skipping: Int64,
        _ pageSize: Int
    ) throws(LedgerStorageError) -> [LedgerRow] {
        let columns = chain.columns.map(\.name).joined(separator: ", ")
        return try connection.rows(
            "SELECT sequence, \(columns), hash FROM \(chain.name) WHERE sequence > ?1 "
                + "ORDER BY sequence LIMIT ?2 OFFSET ?3",
            [.integer(sequence), .integer(Int64(pageSize)), .integer(skipping)])
    }

    private static func verify(
        _ connection: any LedgerConnection, _ pageSize: Int, _ report: inout Report
    ) throws(LedgerStorageError) {
        var last = ""
        // Names that are no texts stand behind all texts, so that only their place leads on.
        var behindTexts: Int64 = 0
        while true {
            let rows = try connection.rows(
                "SELECT sha256 FROM evidence WHERE sha256 > ?1 ORDER BY sha256 LIMIT ?2 OFFSET ?3",
                [.text(last), .integer(Int64(pageSize)), .integer(behindTexts)])
            for row in rows {
                report.evidenceCount += 1
                guard case .text(let name)? = row.values.first else {
                    behindTexts += 1
                    let name = BooksComparison.text(row.values, 0)
                    report.findings.append(Finding(table: "evidence", row: name, kind: .changed))
                    continue
                }
                last = name
                if try !isEvidenceIntact(last, connection) {
                    report.findings.append(Finding(table: "evidence", row: last, kind: .changed))
                }
            }
            if rows.count < pageSize { break }
        }
        try findUnread("evidence", report.evidenceCount, connection, &report)
        for row in try connection.rows(
            """
            SELECT DISTINCT evidence_sha256 FROM submissions WHERE evidence_sha256 IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.sha256 = submissions.evidence_sha256)
            """, [])
        {
            let name = BooksComparison.text(row.values, 0)
            report.findings.append(Finding(table: "evidence", row: name, kind: .evidenceMissing))
        }
    }

    private static func isEvidenceIntact(
        _ sha256: String, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Bool {
        do throws(LedgerStorageError) {
            guard let bytes = try StoredEvidence.bytes(sha256, connection) else { return false }
            return hexadecimal(SHA256.hash(data: bytes)) == sha256
        } catch  where error.kind == .corrupt {
            return false
        }
    }

    /// What is granted must have been accepted, and what was accepted must be granted.
    private static func verifyPurchases(
        _ connection: any LedgerConnection, _ report: inout Report
    ) throws(LedgerStorageError) {
        let matching = """
            submissions.submission_id = purchases.submission_id AND submissions.app = purchases.app
            AND submissions.verdict = 'accepted' AND submissions.replayed = 0
            AND submissions.transaction_id = purchases.transaction_id
            AND submissions.environment = purchases.environment AND submissions.product_id = purchases.product_id
            """
        let strays = try connection.rows(
            "SELECT transaction_id FROM purchases WHERE NOT EXISTS (SELECT 1 FROM submissions WHERE \(matching))", [])
        for row in strays {
            let name = BooksComparison.text(row.values, 0)
            report.findings.append(Finding(table: "purchases", row: name, kind: .purchaseWithoutSubmission))
        }
        let ungranted = try connection.rows(
            """
            SELECT sequence FROM submissions WHERE verdict = 'accepted' AND replayed = 0
            AND NOT EXISTS (SELECT 1 FROM purchases WHERE \(matching))
            """, [])
        for row in ungranted {
            let name = BooksComparison.text(row.values, 0)
            report.findings.append(Finding(table: "submissions", row: name, kind: .submissionWithoutPurchase))
        }
    }
}
