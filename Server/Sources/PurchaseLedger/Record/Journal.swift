import Crypto
import PurchaseVerification

/// The journal: all submissions and acts, in order.
struct Journal {
    let connection: any LedgerConnection
    /// Authenticates entries; without it, they have no code and are not sealed.
    let key: EntryKey?
    /// Notes the entries that are written.
    var attempt: WriteAttempt?

    /// Writes an entry. The sealer finds it by its number.
    ///
    /// - Returns: the written entry.
    @discardableResult
    func append(_ draft: JournalDraft, _ details: some JournalDetails) throws(LedgerStorageError) -> JournalEntry {
        let content = try details.encoded()
        let salt = RandomBytes.sixteen()
        let kind = type(of: details).kind
        let leaf = JournalLeaf(
            id: draft.id, at: draft.at, kind: kind, app: draft.app?.settings.id ?? "",
            customer: draft.customer?.reference,
            order: draft.order?.id, code: draft.code, evidence: draft.evidence?.sha256,
            details: Self.digest(salt: salt, details: content))
        var row = JournalRow(
            id: draft.id, leaf: leaf.bytes, salt: salt, details: content, appKey: draft.app?.key ?? 0,
            kind: Int64(kind.rawValue), at: draft.at)
        row.customerKey = draft.customer?.key
        row.orderKey = draft.order?.key
        row.transactionKey = draft.transactionKey
        row.evidenceKey = draft.evidence?.key
        row.code = draft.code
        row.mac = key?.code(of: row.leaf)
        let key = try JournalTable(connection: connection).insert(row)
        attempt?.note(draft.id)
        return JournalEntry(
            key: key, id: draft.id, leafHash: JournalLeaf.hash(row.leaf),
            bytes: Int64(row.leaf.count + content.count))
    }

    /// The hash of details in a leaf. Without the salt, short details could be guessed from the leaf.
    static func digest(salt: [UInt8], details: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: salt)
        hash.update(data: details)
        return Array(hash.finalize())
    }
}
