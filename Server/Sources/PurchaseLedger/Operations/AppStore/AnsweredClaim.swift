import PurchaseVerification

import struct Foundation.UUID

/// The App Store's answer about a claim that waited for it.
struct AnsweredClaim {
    /// The claim's entry.
    let claim: UUID
    let answer: AppStoreAnswer
}
