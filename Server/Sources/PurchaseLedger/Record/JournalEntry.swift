import PurchaseVerification

import struct Foundation.UUID

/// An entry that was written.
struct JournalEntry {
    /// Its number in the database.
    let key: Int64
    let id: UUID
    /// The hash of its leaf in the Merkle log.
    let leafHash: [UInt8]
    /// The number of bytes of its leaf and its details.
    var bytes: Int64 = 0
}
