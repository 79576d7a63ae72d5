import PurchaseVerification

/// A manual revocation of this original.
struct HandRevocationOfPurchase {
    let row: HandGrantRow
    /// The transaction that the operator named, if it is a member's. Its holder is revoked, not all members.
    let transactionID: ExactText?

    init(_ row: HandGrantRow, _ connection: any LedgerConnection) throws(LedgerStorageError) {
        self.row = row
        let details =
            row.revokedShared ? try JournalTable(connection: connection).row(key: row.entryKey)?.details : nil
        transactionID = try details.flatMap { details throws(LedgerStorageError) in
            try RevocationAddedDetails(encoded: details).transactionID.map { ExactText($0) }
        }
    }
}
