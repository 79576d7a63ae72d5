import Foundation

/// One attack on a server: a request with forged or misused evidence, and the expected answer.
public struct Attack: Sendable {
    /// Its name, such as `app-receipt: wrong-root`.
    public let name: String
    /// The fault, in one sentence.
    public let explanation: String
    /// The target of the request.
    public let target: Target
    /// The expected answer.
    let expectation: Expectation
    /// The body of the request.
    let body: @Sendable () throws -> [UInt8]

    /// The interfaces that accept evidence.
    public enum Target: String, Sendable, CaseIterable {
        /// Apple's contract.
        case verifyReceipt = "/verifyReceipt"
        /// The purchase server.
        case purchases = "/v1/purchases"
        /// Notifications of the App Store.
        case notifications = "/notifications/v2"
    }

    /// The answers that may be expected.
    enum Expectation: Sendable, Equatable {
        /// The evidence is genuine, and accepted.
        case accepted
        /// The evidence is refused: by `verifyReceipt` with 21000, 21002 or 21003, or for its size; at the purchase
        /// server with 409, 413 or 422 and a code.
        case refused
        /// The evidence is genuine, and `verifyReceipt` describes it truthfully; the caller must compare.
        case truth(bundleID: String, transactionIDs: [String])
        /// The evidence is genuine, but belongs to another app or names none. It is refused, or described truthfully.
        case refusedOrNot(bundleID: String)
        /// The answer has one of these HTTP statuses.
        case answered([Int])
    }
}

extension Attack.Expectation {
    var words: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .truth(let bundleID, let transactionIDs):
            "accepted as \(bundleID), \(transactionIDs.isEmpty ? "no purchase" : transactionIDs.joined(separator: " "))"
        case .refusedOrNot(let bundleID): "refused, or accepted as another app than \(bundleID)"
        case .answered(let statuses): statuses.map(String.init).joined(separator: " or ")
        }
    }
}
