import PurchaseVerification

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
