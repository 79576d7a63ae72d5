import PurchaseVerification

/// Size and root of the Merkle log.
struct LogStateRow: Sendable {
    var size: Int64
    var root: [UInt8]
}
