import Foundation

/// A payment that waits for a parent or for the customer.
struct WaitingPayment: Codable, Equatable, Sendable {
    var paymentID = ""
    let mode: PaymentMode
    let bundleID: String
    let customerID: String
    let productID: String
    let quantity: UInt64
    let appAccountToken: String?
    let offerID: String?
}
