public import PurchaseVerification

public import struct Foundation.UUID

/// A claim to check with the App Store.
public struct AppStoreClaim: Sendable {
    /// How long one server may work on a claim, in milliseconds.
    public static let lease = AppStoreClaimRow.lease
    /// How long the App Store's answer about a receipt is reused for further claims of the same customer with it, in
    /// milliseconds.
    public static let answerLasts: Int64 = 900_000

    /// The claim's entry.
    public let id: UUID
    public let app: String
    /// Whether the claim is decided after the App Store's answer. Otherwise it was granted before.
    public let waits: Bool
    public let receivedAt: Timestamp
    /// The number of requests that were not answered.
    public let attempts: Int
    /// The receipt as it was sent; `nil` if it can no longer be read, so that the App Store cannot be asked.
    public let evidence: [UInt8]?
    let details: ClaimDetails
}
