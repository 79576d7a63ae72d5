import Foundation

/// A purchase that the customer was asked to pay. It is kept until its transaction arrives, perhaps days later and in
/// another run of the app: StoreKit returns the account token, but neither customer nor order. Without an order it ends
/// with its cancellation.
struct StartedPurchase: Codable, Equatable {
    let productID: String
    var customerID: String
    let orderID: String?
    let appAccountToken: UUID?
    var startedAt: Date

    /// The age from which it is dropped: 60 days, longer than any approval or payment takes.
    static let longestAge: Double = 60 * 86_400
}
