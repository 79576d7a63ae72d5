import PurchaseVerification

/// Where an app receipt belongs among the receipts of one download of the app.
struct ReceiptPlace: Sendable, Equatable {
    /// The most originals of a receipt that is found by its download. Receipts with more are those of shops of
    /// consumables, which sell no subscriptions that outlive the receipt.
    static let originalLimit = 256

    /// The App Store's number of the download; never 0, which every sandbox receipt has.
    let downloadID: Int64
    /// When it was signed.
    let createdAt: Timestamp
    /// The original transactions that it names.
    let originals: OriginalDigests

    /// The place of a receipt; `nil` if it names no download or no date, or has no purchases or too many.
    init?(downloadID: UInt64?, createdAt: Timestamp?, originals: some Sequence<ExactText>) {
        guard let downloadID, downloadID != 0, let createdAt else { return nil }
        let originals = Set(originals)
        guard (1...Self.originalLimit).contains(originals.count) else { return nil }
        self.downloadID = Int64(bitPattern: downloadID)
        self.createdAt = createdAt
        self.originals = OriginalDigests(originals)
    }
}
