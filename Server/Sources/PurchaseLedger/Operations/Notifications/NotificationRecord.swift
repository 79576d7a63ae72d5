public import PurchaseVerification

public import struct Foundation.UUID

/// A received notification.
public struct NotificationRecord: Sendable, Equatable {
    /// The entry of its first delivery.
    public var entryID: UUID
    /// When the first delivery was recorded.
    public var receivedAt: Timestamp
    /// Apple's `notificationUUID`, or `sha256:` and the hash of its bytes; `nil` after an erasure.
    public var notificationID: String?
    /// Apple's name of the type; `MIGRATION` also for `MIGRATE`.
    public var type: String?
    public var subtype: String?
    public var signedAt: Timestamp?
    public var environment: String?
    public var content: NotificationFacts.Content?
    public var status: Int64?
    public var refundReason: String?
    public var originalTransactionID: String?
    public var transactionID: String?
    /// The present owner of the purchase. If it is about no known transaction, the customer when it was received, after
    /// all merges.
    public var customerID: String?
    /// SHA-256 of its bytes, in hexadecimal; `nil` after an erasure.
    public var evidenceSHA256: String?
}

extension NotificationRecord {
    init(
        _ row: JournalRow, _ details: NotificationDetails?, _ reader: LedgerTransaction
    ) throws(LedgerStorageError) {
        entryID = row.id
        receivedAt = row.at
        notificationID = details?.notificationID
        type = details?.usualType
        subtype = details?.subtype
        signedAt = details?.signedAt.map(Timestamp.init(millisecondsSince1970:))
        environment = details?.environment
        content = details.flatMap { NotificationFacts.Content(rawValue: $0.content) }
        status = details?.status
        refundReason = details?.refundReason
        originalTransactionID = details?.originalTransactionID
        transactionID = details?.transactionID
        let owner = try row.transactionKey.flatMap { key throws(LedgerStorageError) in
            try reader.transactions.row(key)
        }
        if let key = owner.map(\.ownerKey) ?? row.customerKey {
            customerID = try reader.customers.surviving(try reader.customers.row(key)).name
        }
        if let key = row.evidenceKey, let evidence = try EvidenceTable(connection: reader.connection).row(key: key),
            evidence.content != nil
        {
            evidenceSHA256 = evidence.sha256.hexadecimal
        }
    }
}
