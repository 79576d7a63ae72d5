import Crypto

/// Reads the record from its first row to its last, and finds what was changed. Then it compares the books with what the record
/// says they must be.
///
/// What it proves: given the head hashes, no row before them was changed, removed, added or moved. What it cannot see: somebody
/// who can write to the file can also compute a whole new chain with new heads. Keep the head hashes elsewhere, and compare.
public struct Audit: Sendable {
    private let database: any LedgerDatabase
    private let pageSize: Int

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
            try Self.verifyEvidence(connection, pageSize, &report)
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
        while true {
            let rows = try page(chain, connection, after: last, pageSize)
            for row in rows {
                guard case .integer(let number)? = row.values.first else {
                    // Whatever is no number stands behind all numbers.
                    let name = BooksComparison.text(row.values, 0)
                    report.findings.append(Finding(table: chain.name, row: name, kind: .unrecorded))
                    break
                }
                let hash = BooksComparison.text(row.values, row.values.count - 1)
                last = number
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
    }

    private static let longestGapByNumber: Int64 = 10_000

    private static func page(
        _ chain: HashChain, _ connection: any LedgerConnection, after sequence: Int64, _ pageSize: Int
    ) throws(LedgerStorageError) -> [LedgerRow] {
        let columns = chain.columns.map(\.name).joined(separator: ", ")
        return try connection.rows(
            "SELECT sequence, \(columns), hash FROM \(chain.name) WHERE sequence > ?1 ORDER BY sequence LIMIT ?2",
            [.integer(sequence), .integer(Int64(pageSize))])
    }

    private static func verifyEvidence(
        _ connection: any LedgerConnection, _ pageSize: Int, _ report: inout Report
    ) throws(LedgerStorageError) {
        var last = ""
        while true {
            let rows = try connection.rows(
                "SELECT sha256 FROM evidence WHERE sha256 > ?1 ORDER BY sha256 LIMIT ?2",
                [.text(last), .integer(Int64(pageSize))])
            for row in rows {
                last = BooksComparison.text(row.values, 0)
                report.evidenceCount += 1
                if try !isEvidenceIntact(last, connection) {
                    report.findings.append(Finding(table: "evidence", row: last, kind: .changed))
                }
            }
            if rows.count < pageSize { break }
        }
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

extension Audit {
    /// The hash of one row of a chain; `nil` if there is no such row or table.
    public func hash(_ table: String, at sequence: Int64) async throws -> String? {
        guard let chain = [SubmissionRecord.chain, LedgerEvent.chain].first(where: { $0.name == table }) else {
            return nil
        }
        return try await database.read { connection in
            let rows = try connection.rows("SELECT hash FROM \(chain.name) WHERE sequence = ?1", [.integer(sequence)])
            guard let row = rows.first else { return nil }
            var reader = RowReader(row)
            return try reader.text()
        }
    }

    /// Hands out every row of the record as one JSON object, submissions first and then events, each in its order.
    ///
    /// - Parameter line: takes a line without its end.
    public func export(_ line: @escaping @Sendable (String) throws -> Void) async throws {
        let pageSize = pageSize
        try await database.read { connection in
            for chain in [SubmissionRecord.chain, LedgerEvent.chain] {
                var sequence = Int64.min
                while true {
                    let rows = try Self.page(chain, connection, after: sequence, pageSize)
                    for row in rows {
                        try line(Self.json(row, chain))
                        if case .integer(let number)? = row.values.first { sequence = number }
                    }
                    if rows.count < pageSize { break }
                }
            }
        }
    }

    private static func json(_ row: LedgerRow, _ chain: HashChain) -> String {
        let names = ["sequence"] + chain.columns.map(\.name) + ["hash"]
        let members = zip(names, row.values).map { "\(quoted($0)):\(json($1))" }
        return "{\(quoted("table")):\(quoted(chain.name)),\(members.joined(separator: ","))}"
    }

    private static func json(_ value: LedgerValue) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): "\(number)"
        case .text(let text): quoted(text)
        case .blob(let bytes): quoted(hexadecimal(bytes))
        }
    }

    /// A JSON string (RFC 8259, 7).
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
