import PurchaseVerification

/// Writes an entry of the kind that the next release adds (`LedgerRelease.next`). Only the program that tests upgrades
/// performs it.
package struct NoteNextRelease: LedgerOperation {
    let note: String

    /// An entry with a note.
    package init(note: String) { self.note = note }

    package var locks: LedgerLocks { .parts([]) }

    /// - Throws: `schemaTooOld` while servers of the release before can write.
    package func perform(_ transaction: LedgerTransaction) throws {
        try transaction.journal.append(transaction.draft(nil), NextReleaseDetails(note: note))
    }
}
