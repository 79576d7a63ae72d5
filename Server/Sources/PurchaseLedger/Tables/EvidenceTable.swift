import PurchaseVerification

struct EvidenceTable {
    let connection: any LedgerConnection

    func row(sha256: [UInt8]) throws(LedgerStorageError) -> EvidenceRow? {
        try EvidenceRow.first(Self.bySHA256, [.blob(sha256)], connection)
    }

    func row(key: Int64) throws(LedgerStorageError) -> EvidenceRow? {
        try EvidenceRow.first("WHERE evidence_key = ?1", [.integer(key)], connection)
    }

    /// The rows after a key, in key order.
    func rows(after key: Int64, limit: Int64) throws(LedgerStorageError) -> [EvidenceRow] {
        try EvidenceRow.all(
            "WHERE evidence_key > ?1 ORDER BY evidence_key LIMIT ?2", [.integer(key), .integer(limit)], connection)
    }

    static let bySHA256 = ReadShape(
        EvidenceRow.table.select("WHERE sha256 = ?1"), of: ReadScope(EvidenceRow.table.name, by: "sha256"), [.value])

    /// Inserts a row.
    ///
    /// - Returns: its key.
    func insert(_ row: EvidenceRow) throws(LedgerStorageError) -> Int64 {
        try EvidenceRow.table.insert(row.values, connection)
    }

    /// The key of the row with a hash, which is inserted if there is none.
    func keyToWrite(_ row: EvidenceRow) throws(LedgerStorageError) -> Int64 {
        if let known = try self.row(sha256: row.sha256) { return known.key }
        return try insert(row)
    }

    /// The first 128 bytes of the content of the rows on one side of a key, the nearest first.
    func starts(
        from key: Int64, isForward: Bool, limit: Int64
    ) throws(LedgerStorageError) -> [(key: Int64, bytes: [UInt8]?)] {
        var starts: [(key: Int64, bytes: [UInt8]?)] = []
        for row in try connection.rows(
            """
            SELECT evidence_key, substr(content, 1, 128) FROM evidence
            WHERE evidence_key \(isForward ? ">" : "<") ?1 ORDER BY evidence_key \(isForward ? "" : "DESC") LIMIT ?2
            """, [.integer(key), .integer(limit)])
        {
            var reader = row.reader
            starts.append((try reader.integer(), try reader.optionalBlob()))
        }
        return starts
    }

    /// Restores the content of a row that was erased or has only a prefix.
    func refill(_ key: Int64, _ content: [UInt8]) throws(LedgerStorageError) {
        // The table's rule refuses to change existing content.
        try connection.send(
            to: "evidence", "UPDATE evidence SET content = NULL WHERE evidence_key = ?1", [.integer(key)])
        try connection.send(
            to: "evidence",
            "UPDATE evidence SET content = ?2 WHERE evidence_key = ?1", [.integer(key), .blob(content)])
    }

    /// Deletes the content of a row.
    func erase(_ key: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "evidence", "UPDATE evidence SET content = NULL WHERE evidence_key = ?1", [.integer(key)])
        try connection.send(to: "held_evidence", "DELETE FROM held_evidence WHERE evidence_key = ?1", [.integer(key)])
        try AppReceiptsTable(connection: connection).delete(evidence: key)
    }
}

/// Evidence, stored once under its SHA-256 however often it is sent.
struct EvidenceRow: TableRow {
    static let table = Table("evidence", key: "evidence_key", columns: ["sha256", "size", "content"])

    var key: Int64
    /// SHA-256 of the evidence as it was sent.
    var sha256: [UInt8]
    /// Its size in bytes.
    var size: Int64
    /// A stored form of it (`StoredContent`); `nil` after an erasure.
    var content: [UInt8]?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        sha256 = try reader.blob()
        size = try reader.integer()
        content = try reader.optionalBlob()
    }

    init(sha256: [UInt8], size: Int64, content: [UInt8]?) {
        (key, self.sha256, self.size, self.content) = (0, sha256, size, content)
    }

    var values: [LedgerValue] { [.blob(sha256), .integer(size), .blob(content)] }
}

struct EvidencePartsTable {
    let connection: any LedgerConnection

    static let stateBySHA256 = ReadShape(
        "SELECT part_key, content IS NOT NULL FROM evidence_parts WHERE sha256 = ?1",
        of: ReadScope(EvidencePartRow.table.name, by: "sha256"), [.value])

    func row(_ key: Int64) throws(LedgerStorageError) -> EvidencePartRow? {
        try EvidencePartRow.first("WHERE part_key = ?1", [.integer(key)], connection)
    }

    /// The key of a part, and whether its content is stored.
    func state(sha256: [UInt8]) throws(LedgerStorageError) -> (key: Int64, hasContent: Bool)? {
        let rows = try connection.rows(Self.stateBySHA256, [.blob(sha256)])
        guard var reader = rows.first?.reader else { return nil }
        return (try reader.integer(), try reader.flag())
    }

    /// The rows after a key, in key order.
    func rows(after key: Int64, limit: Int64) throws(LedgerStorageError) -> [EvidencePartRow] {
        try EvidencePartRow.all(
            "WHERE part_key > ?1 ORDER BY part_key LIMIT ?2", [.integer(key), .integer(limit)], connection)
    }

    func insert(sha256: [UInt8], _ content: [UInt8]) throws(LedgerStorageError) -> Int64 {
        try EvidencePartRow.table.insert([.blob(sha256), .blob(content)], connection)
    }

    /// Restores the content of a part.
    func refill(_ key: Int64, _ content: [UInt8]) throws(LedgerStorageError) {
        try connection.send(
            to: "evidence_parts",
            "UPDATE evidence_parts SET content = ?2 WHERE part_key = ?1", [.integer(key), .blob(content)])
    }

    /// Deletes the content of a part that no evidence uses any more.
    func erase(_ key: Int64) throws(LedgerStorageError) {
        try connection.execute("UPDATE evidence_parts SET content = NULL WHERE part_key = ?1", [.integer(key)])
    }
}

/// Bytes that many pieces of evidence share: certificate sets of receipts and headers of signed payloads. Each is
/// stored once under its SHA-256. They name signers of the App Store, and no customer.
struct EvidencePartRow: TableRow {
    static let table = Table("evidence_parts", key: "part_key", columns: ["sha256", "content"])

    var key: Int64
    var sha256: [UInt8]
    /// `nil` after the erasure of the only evidence that used it.
    var content: [UInt8]?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        sha256 = try reader.blob()
        content = try reader.optionalBlob()
    }
}

/// Verified evidence that is not observed yet, because no app has its bundle id.
struct HeldEvidenceTable {
    private static let insertion = LedgerInsertion(
        "held_evidence", ["evidence_key", "entry_key", "bundle_id"], onConflict: ["bundle_id", "evidence_key"],
        "DO NOTHING")

    let connection: any LedgerConnection

    func insert(_ evidence: Int64, entry: Int64, bundleID: String) throws(LedgerStorageError) {
        try connection.insert(Self.insertion, [.integer(evidence), .integer(entry), .text(bundleID)])
    }

    /// The held evidence of a bundle id, oldest first.
    func keys(bundleID: String) throws(LedgerStorageError) -> [Int64] {
        try connection.integers(
            "SELECT evidence_key FROM held_evidence WHERE bundle_id = ?1 ORDER BY evidence_key", [.text(bundleID)],
            of: ["held_evidence"])
    }

    func delete(bundleID: String) throws(LedgerStorageError) {
        try connection.send(to: "held_evidence", "DELETE FROM held_evidence WHERE bundle_id = ?1", [.text(bundleID)])
    }
}

/// The bytes of unverified evidence that were stored, by day. They only limit what is stored later: no entry, fact or
/// entitlement depends on them.
struct UnverifiedEvidenceTable {
    private static let millisecondsPerDay: Int64 = 86_400_000

    let connection: any LedgerConnection

    /// The number of a day in UTC.
    static func day(_ moment: Timestamp) -> Int64 { moment.millisecondsSince1970 / millisecondsPerDay }

    /// When the day in UTC of a moment began.
    static func beginning(ofDayAt moment: Timestamp) -> Timestamp {
        Timestamp(millisecondsSince1970: day(moment) * millisecondsPerDay)
    }

    /// The bytes kept on a day.
    ///
    /// - Parameter key: the API key that sent them; empty for the whole app.
    func bytes(app: Int64, key: String, day: Int64) throws(LedgerStorageError) -> Int64 {
        let rows = try connection.rows(
            "SELECT bytes FROM unverified_evidence WHERE app_key = ?1 AND key_id = ?2 AND day = ?3",
            [.integer(app), .text(key), .integer(day)], of: ["unverified_evidence"])
        guard var reader = rows.first?.reader else { return 0 }
        return try reader.integer()
    }

    /// Adds bytes to a day, and deletes the days before it.
    func add(_ bytes: Int64, app: Int64, key: String, day: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "unverified_evidence",
            "DELETE FROM unverified_evidence WHERE app_key = ?1 AND key_id = ?2 AND day < ?3",
            [.integer(app), .text(key), .integer(day)])
        try connection.send(
            to: "unverified_evidence",
            """
            INSERT INTO unverified_evidence (app_key, key_id, day, bytes) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (app_key, key_id, day) DO UPDATE SET bytes = unverified_evidence.bytes + excluded.bytes
            """, [.integer(app), .text(key), .integer(day), .integer(bytes)])
    }
}

/// The app receipts of each download of an app, by the time of their signature.
struct AppReceiptsTable {
    private static let insertion = LedgerInsertion(
        "app_receipts",
        ["app_key", "environment", "download_id", "created_at", "evidence_key", "part_key", "originals"],
        onConflict: ["app_key", "environment", "download_id", "created_at", "evidence_key"], "DO NOTHING")

    let connection: any LedgerConnection

    /// - Parameters:
    ///   - evidence: the stored receipt.
    ///   - part: the shared part of its stored form; 0 if it has none.
    func insert(
        _ place: ReceiptPlace, app: Int64, environment: Int64, evidence: Int64, part: Int64
    ) throws(LedgerStorageError) {
        try connection.insert(
            Self.insertion,
            [
                .integer(app), .integer(environment), .integer(place.downloadID), .time(place.createdAt),
                .integer(evidence), .integer(part), .blob(place.originals.bytes),
            ])
    }

    func delete(evidence: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "app_receipts", "DELETE FROM app_receipts WHERE evidence_key = ?1", [.integer(evidence)])
    }
}
