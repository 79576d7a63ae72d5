import Foundation
import PurchaseAPI

/// One attack on a server: a request with forged or misused evidence, and the expected answer.
public struct Attack: Sendable {
    /// Its name, such as `app-receipt: wrong-root`.
    public let name: String
    public let explanation: String
    public let target: Target
    let expectation: Expectation
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

/// An answer to an attack, read as far as the comparison with the expected answer needs.
struct AttackAnswer {
    let words: String
    private let isAccepted: Bool
    private let isRefused: Bool
    private let bundleID: String?
    private let transactionIDs: [String]
    private let status: Int

    init(_ answer: AttackClient.Answer, at target: Attack.Target) {
        let json = Self.object(answer.body)
        let (verdict, code) = (json["verdict"] as? String, json["code"] as? String)
        let receipt = json["receipt"] as? [String: Any]
        status = answer.status
        bundleID = (receipt?["bundle_id"] ?? receipt?["bid"]) as? String
        let purchases = receipt?["in_app"] as? [[String: Any]] ?? receipt.map { [$0] } ?? []
        transactionIDs = purchases.compactMap { $0["transaction_id"] as? String }
        switch target {
        case .verifyReceipt:
            isAccepted = answer.status == 200 && json["status"] as? Int == 0
            isRefused = [21000, 21002, 21003].contains(json["status"] as? Int) || answer.status == 413
            let content = isAccepted ? [bundleID ?? "no bundle id"] + transactionIDs : []
            words = ([(json["status"] as? Int).map(String.init) ?? "HTTP \(answer.status) without a status"] + content)
                .joined(separator: " ")
        case .purchases:
            isAccepted = (200...299).contains(answer.status) && verdict == "accepted"
            // The requests are well-formed, so an answer that rejects the request itself, such as 400 or 401, has not
            // decided the claim.
            isRefused =
                [409, 413, 422].contains(answer.status) && verdict != "accepted" && code?.isEmpty == false
            words =
                [verdict, code].compactMap { $0 }.joined(separator: " ")
                + ((200...299).contains(answer.status) ? "" : " (\(answer.status))")
        case .notifications:
            isAccepted = (200...206).contains(answer.status)
            isRefused = !isAccepted
            words = ([String(answer.status)] + [code].compactMap { $0 }).joined(separator: " ")
        }
    }

    func isRight(_ expectation: Attack.Expectation) -> Bool {
        switch expectation {
        case .accepted: isAccepted
        case .refused: isRefused && !isAccepted
        case .truth(let bundleID, let transactionIDs):
            isAccepted && self.bundleID == bundleID && Set(self.transactionIDs) == Set(transactionIDs)
        case .refusedOrNot(let bundleID): isRefused || isAccepted && self.bundleID != bundleID
        case .answered(let statuses): statuses.contains(status)
        }
    }

    /// The members of an answer. One that is not JSON, or not JSON of a correct server, counts neither as accepted nor
    /// as refused.
    private static func object(_ body: Data) -> [String: Any] {
        do {
            try WrittenJSON.checkLimits(of: [UInt8](body))
            return try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:]
        } catch {
            return [:]
        }
    }
}
