import PurchaseVerification

import struct Foundation.UUID

/// A journal entry before it is written. Its id is chosen first, so that rows written before it can refer to it.
struct JournalDraft {
    let id: UUID
    var at: Timestamp
    var app: RegistryApp?
    var customer: CustomerRow?
    var order: OrderRow?
    var transactionKey: Int64?
    var evidence: (key: Int64, sha256: [UInt8])?
    var code = ""

    init(id: UUID? = nil, at: Timestamp, app: RegistryApp?) {
        self.id = id ?? TimeOrderedID.next(at: at)
        self.at = at
        self.app = app
    }
}
