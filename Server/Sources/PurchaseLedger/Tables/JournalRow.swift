import PurchaseVerification

import struct Foundation.UUID

/// A stored journal entry.
struct JournalRow: TableRow {
    static let table = Table(
        "journal", key: "entry_key",
        columns: [
            "entry_id", "leaf", "salt", "details", "app_key", "customer_key", "order_key", "transaction_key",
            "evidence_key", "kind", "code", "at", "mac",
        ])

    var key: Int64
    var id: UUID
    /// The bytes that the Merkle log covers.
    var leaf: [UInt8]
    /// The salt; `nil` after an erasure, like the details.
    var salt: [UInt8]?
    /// JSON. The column stores a shorter form (`JSONShorthand`).
    var details: [UInt8]?
    /// 0 for entries of the whole ledger.
    var appKey: Int64
    var customerKey: Int64?
    var orderKey: Int64?
    var transactionKey: Int64?
    var evidenceKey: Int64?
    var kind: Int64
    var code: String
    var at: Timestamp
    /// The code of the server that wrote the entry (HMAC-SHA256 of the leaf).
    var mac: [UInt8]?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        id = try reader.id()
        leaf = try reader.blob()
        salt = try reader.optionalBlob()
        details = try reader.optionalBlob().map(JSONShorthand.json)
        appKey = try reader.integer()
        customerKey = try reader.optionalInteger()
        orderKey = try reader.optionalInteger()
        transactionKey = try reader.optionalInteger()
        evidenceKey = try reader.optionalInteger()
        kind = try reader.integer()
        code = try reader.text()
        at = try reader.time()
        mac = try reader.optionalBlob()
    }

    init(id: UUID, leaf: [UInt8], salt: [UInt8], details: [UInt8], appKey: Int64, kind: Int64, at: Timestamp) {
        key = 0
        self.id = id
        self.leaf = leaf
        self.salt = salt
        self.details = details
        self.appKey = appKey
        self.kind = kind
        code = ""
        self.at = at
    }

    var values: [LedgerValue] {
        [
            .id(id), .blob(leaf), .blob(salt), .blob(details.map(JSONShorthand.shortened)), .integer(appKey),
            .integer(customerKey),
            .integer(orderKey), .integer(transactionKey), .integer(evidenceKey), .integer(kind), .text(code), .time(at),
            .blob(mac),
        ]
    }
}
