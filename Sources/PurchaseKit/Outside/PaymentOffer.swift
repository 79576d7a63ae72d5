public import Foundation

/// An offer of a subscription that a purchase uses.
public enum PaymentOffer: Sendable, Equatable {
    /// A promotional offer with the signature of Apple's first form, made by a server with a key of App Store Connect.
    /// The only offer of the original API (`SKPaymentDiscount`).
    case promotional(id: String, keyID: String, nonce: UUID, signature: Data, timestamp: Int64)
    /// A promotional offer that a server signed as a JWS; StoreKit 2 only.
    case promotionalJWS(id: String, compactJWS: String)
    /// Whether the customer gets the introductory offer, as a server signed it; StoreKit 2 only.
    case introductory(compactJWS: String)
    /// A win-back offer; StoreKit 2 since iOS 18 and macOS 15 only.
    case winBack(id: String)
}
