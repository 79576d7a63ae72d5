import Crypto
import PurchaseVerification

/// Stores each piece of evidence once, in a form that restores the same bytes.
package struct EvidenceStore {
    /// The maximum size of evidence that is stored whole, in bytes; it is also the maximum that the core reads.
    static let largest = 16 << 20

    let connection: any LedgerConnection

    package init(connection: any LedgerConnection) { self.connection = connection }

    /// Stores evidence unless it is already stored.
    ///
    /// - Parameter allowance: the bytes that unverified evidence may use; `nil` for no limit.
    /// - Returns: the stored evidence, and the bytes that it uses if it is new.
    package func keep(
        _ evidence: StorableEvidence, allowance: Int64? = nil
    ) throws(LedgerStorageError) -> (evidence: KeptEvidence, bytes: Int64) {
        let table = EvidenceTable(connection: connection)
        guard let known = try table.row(sha256: evidence.sha256) else {
            let content = try content(of: evidence, allowance: allowance)
            let row = EvidenceRow(sha256: evidence.sha256, size: Int64(evidence.bytes.count), content: content)
            return stored(try table.insert(row), evidence, content)
        }
        let isKnownPrefix = known.content.flatMap(StoredContent.form) == .prefix
        // The content is replaced for erased evidence that a customer sends again, and for evidence that verifies under
        // new settings.
        guard known.content == nil || (isKnownPrefix && evidence.isVerified) else {
            var kept = KeptEvidence(key: known.key, sha256: evidence.sha256, isPrefix: isKnownPrefix)
            kept.part = known.content.flatMap { StoredContent.parts(of: $0).first } ?? 0
            return (kept, 0)
        }
        let content = try content(of: evidence, allowance: allowance)
        try table.refill(known.key, content)
        return stored(known.key, evidence, content)
    }

    private func stored(
        _ key: Int64, _ evidence: StorableEvidence, _ content: [UInt8]
    ) -> (evidence: KeptEvidence, bytes: Int64) {
        let isPrefix = StoredContent.form(content) == .prefix
        var kept = KeptEvidence(key: key, sha256: evidence.sha256, isPrefix: isPrefix)
        kept.part = StoredContent.parts(of: content).first ?? 0
        return (kept, Int64(content.count))
    }

    /// The bytes in which evidence is stored.
    private func content(
        of evidence: StorableEvidence, allowance: Int64?
    ) throws(LedgerStorageError) -> [UInt8] {
        guard evidence.bytes.count <= Self.largest else { return StoredContent.prefix(of: evidence.bytes) }
        let content: [UInt8]
        if let compressed = evidence.compressed {
            var keys: [Int64] = []
            for (part, sha256) in zip(compressed.parts, evidence.partHashes) {
                keys.append(try key(of: part, sha256: sha256))
            }
            content = compressed.stored(keys: keys)
        } else {
            content = StoredContent.plain(evidence.bytes)
        }
        guard !evidence.isVerified, let allowance, content.count > allowance,
            content.count > StoredContent.prefixBytes
        else { return content }
        return StoredContent.prefix(of: evidence.bytes)
    }

    /// The key of a shared part, which is stored if it is missing or was erased.
    private func key(of part: [UInt8], sha256: [UInt8]) throws(LedgerStorageError) -> Int64 {
        let table = EvidencePartsTable(connection: connection)
        guard let known = try table.state(sha256: sha256) else { return try table.insert(sha256: sha256, part) }
        if !known.hasContent { try table.refill(known.key, part) }
        return known.key
    }

    /// The evidence with a hash, as it was sent; `nil` if there is none, if it was erased, or if only a prefix is
    /// stored.
    package func bytes(sha256: [UInt8]) throws(LedgerStorageError) -> [UInt8]? {
        guard let row = try EvidenceTable(connection: connection).row(sha256: sha256) else { return nil }
        return try bytes(row)
    }

    /// The evidence of a row, checked against its size and hash; `nil` after an erasure, or if only a prefix is stored.
    func bytes(_ row: EvidenceRow) throws(LedgerStorageError) -> [UInt8]? {
        let table = EvidencePartsTable(connection: connection)
        return try Self.bytes(row) { key throws(LedgerStorageError) in try table.row(key)?.content }
    }

    /// The evidence of a row, as above.
    ///
    /// - Parameter part: the bytes of a shared part.
    static func bytes(
        _ row: EvidenceRow, part: (Int64) throws(LedgerStorageError) -> [UInt8]?
    ) throws(LedgerStorageError) -> [UInt8]? {
        guard let content = row.content else { return nil }
        guard let form = StoredContent.form(content), row.size >= 0 else { throw Self.changed(row) }
        if form == .prefix {
            guard row.size > content.count - 5, content.count - 5 == StoredContent.prefixBytes else {
                throw Self.changed(row)
            }
            return nil
        }
        guard row.size <= Self.largest, let bytes = try bytes(content, form, size: Int(row.size), part: part),
            bytes.count == row.size, SHA256.hash(data: bytes) == row.sha256
        else { throw Self.changed(row) }
        return bytes
    }

    /// The stored part of the evidence of a row: all of it, or its first kilobyte; `nil` after an erasure.
    func keptBytes(_ row: EvidenceRow) throws(LedgerStorageError) -> [UInt8]? {
        if let bytes = try bytes(row) { return bytes }
        return row.content.map { Array($0.dropFirst(5)) }
    }

    /// How much of the evidence of a row is stored, according to the form of its content.
    static func keptPart(_ row: EvidenceRow) -> StoredPart {
        guard let content = row.content else { return .none }
        return StoredContent.form(content) == .prefix ? .prefix : .whole
    }

    private static func bytes(
        _ content: [UInt8], _ form: StoredContent.Form, size: Int,
        part: (Int64) throws(LedgerStorageError) -> [UInt8]?
    ) throws(LedgerStorageError) -> [UInt8]? {
        guard let dictionary = form.dictionary else { return Array(content.dropFirst(5)) }
        return try CompressedEvidence.evidence(content, dictionary, size: size, part: part)
    }

    /// Whether any evidence uses a shared part. It searches outwards from a key, since a signer's evidence arrived in
    /// the same months.
    func isUsed(part: Int64, near key: Int64) throws(LedgerStorageError) -> Bool {
        let table = EvidenceTable(connection: connection)
        var (before, after): (Int64?, Int64?) = (key, key)
        while before != nil || after != nil {
            for (start, isForward) in [(before, false), (after, true)] {
                guard let start else { continue }
                let page = try table.starts(from: start, isForward: isForward, limit: 256)
                if page.contains(where: { $0.bytes.map { StoredContent.parts(of: $0).contains(part) } ?? false }) {
                    return true
                }
                if isForward { after = page.last?.key } else { before = page.last?.key }
            }
        }
        return false
    }

    private static func changed(_ row: EvidenceRow) -> LedgerStorageError {
        LedgerStorageError(.corrupt, "evidence \(row.key) does not match its hash and size")
    }
}
