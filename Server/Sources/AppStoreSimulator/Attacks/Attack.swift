import Foundation

/// One attempt to get something for nothing.
public struct Attack: Sendable {
    /// Its name, such as `app-receipt: wrong-root`.
    public let name: String
    /// What is wrong, in one sentence.
    public let explanation: String
    /// Where it is sent.
    public let door: Door
    /// What must be answered.
    let expectation: Expectation
    /// The body of the request.
    let body: @Sendable () throws -> [UInt8]

    /// Where evidence is taken.
    public enum Door: String, Sendable, CaseIterable {
        /// Apple's contract.
        case verifyReceipt = "/verifyReceipt"
        /// The purchase server.
        case purchases = "/v1/purchases"
    }

    /// What must be answered.
    enum Expectation: Sendable, Equatable {
        /// It is genuine, and taken.
        case accepted
        /// It is refused: at `verifyReceipt` with 21000, 21002 or 21003, or for its size; at the purchase server with
        /// 409, 413 or 422 and a code.
        case refused
        /// It is genuine, and `verifyReceipt` says truthfully what it is; whoever asked must compare.
        case truth(bundleID: String, transactionIDs: [String])
        /// It is genuine, but of another app, or of none that it names. It is refused, or told so truthfully.
        case refusedOrNot(bundleID: String)
    }
}

extension Attack.Expectation {
    var words: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .truth(let bundleID, let transactionIDs):
            "the truth: \(bundleID), \(transactionIDs.isEmpty ? "no purchase" : transactionIDs.joined(separator: " "))"
        case .refusedOrNot(let bundleID): "refused, or told not to be of \(bundleID)"
        }
    }
}

/// How an attack ended.
public struct AttackResult: Sendable {
    /// The attack.
    public let attack: Attack
    /// What had to be answered, in a few words.
    public let expected: String
    /// What was answered, in a few words.
    public let answered: String
    /// Whether it is what had to be.
    public let isRight: Bool
}
