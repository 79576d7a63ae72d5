import Foundation

/// The outcomes of customers' payments, and the payments that wait: everything between the customer's tap and the sale.
struct PendingPayments: Codable, Equatable, Sendable {
    private(set) var modes: [String: PaymentMode] = [:]
    private(set) var waiting: [WaitingPayment] = []
    /// Customers whose receipt does not change at a purchase, but only at the next refresh, as on a device where it
    /// lags behind.
    private(set) var laggingReceipts: [String] = []
    private var payments = 0

    /// The maximum number of payments that can wait at the same time.
    static let waitingLimit = 1000

    func mode(of customerID: String) -> PaymentMode { modes[customerID] ?? .normal }

    func receiptLags(of customerID: String) -> Bool { laggingReceipts.contains(customerID) }

    /// Sets the outcome of a customer's payments from now on.
    mutating func set(_ mode: PaymentMode, receiptLags: Bool, for customerID: String) {
        modes[customerID] = mode == .normal ? nil : mode
        laggingReceipts.removeAll { $0 == customerID }
        if receiptLags { laggingReceipts.append(customerID) }
    }

    /// Lets a payment wait.
    mutating func wait(_ payment: WaitingPayment) throws(StoreError) -> WaitingPayment {
        guard waiting.count < Self.waitingLimit else {
            throw StoreError(.wrongState, "\(Self.waitingLimit) payments are already waiting.")
        }
        payments += 1
        var payment = payment
        payment.paymentID = "payment-\(payments)"
        waiting.append(payment)
        return payment
    }

    /// Takes a payment that waits.
    mutating func take(_ paymentID: String) throws(StoreError) -> WaitingPayment {
        guard let index = waiting.firstIndex(where: { $0.paymentID == paymentID }) else {
            throw StoreError(.unknownPayment, "No payment '\(paymentID)' is waiting.")
        }
        return waiting.remove(at: index)
    }
}

/// The outcome of a customer's payments.
enum PaymentMode: String, Codable, CaseIterable, Sendable {
    case normal
    /// A parent must approve it.
    case askToBuy = "ask-to-buy"
    /// The customer must first confirm something outside of the app; the app sees a failed payment.
    case interrupted
    /// The customer cancels.
    case cancelled
}

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
