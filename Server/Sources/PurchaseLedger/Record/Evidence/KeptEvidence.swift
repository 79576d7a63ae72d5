import PurchaseVerification

/// Stored evidence.
package struct KeptEvidence {
    let key: Int64
    let sha256: [UInt8]
    /// Whether only its first kilobyte is kept.
    package let isPrefix: Bool
    /// The bytes that verified evidence takes if it is new; the daily budget pays for them if the evidence is refused.
    var uncharged: Int64 = 0
    /// The first shared part of its stored form; 0 if it has none.
    var part: Int64 = 0
}
