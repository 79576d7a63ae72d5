import Foundation
import PurchaseAPI

/// An answer to an attack, read as far as the comparison with the expected answer needs.
struct AttackAnswer {
    let words: String
    private let isAccepted: Bool
    private let isRefused: Bool
    private let bundleID: String?
    private let transactionIDs: [String]
    private let status: Int

    init(_ answer: AttackClient.Answer, at target: Attack.Target) {
        // An answer that is not JSON, or not JSON of a correct server, counts neither as accepted nor as refused.
        let json = (try? Content(json: answer.body)) ?? Content()
        status = answer.status
        bundleID = json.receipt?.bundleID ?? json.receipt?.bid
        transactionIDs = json.receipt?.inApp?.map(\.transactionID) ?? json.receipt?.transactionID.map { [$0] } ?? []
        switch target {
        case .verifyReceipt:
            isAccepted = answer.status == 200 && json.status == 0
            isRefused = [21000, 21002, 21003].contains(json.status) || answer.status == 413
            let content = isAccepted ? [bundleID ?? "no bundle id"] + transactionIDs : []
            words = ([json.status.map(String.init) ?? "HTTP \(answer.status) without a status"] + content)
                .joined(separator: " ")
        case .purchases:
            isAccepted = (200...299).contains(answer.status) && json.verdict == "accepted"
            // The requests are well-formed, so an answer that rejects the request itself, such as 400 or 401, has not
            // decided the claim.
            isRefused =
                [409, 413, 422].contains(answer.status) && json.verdict != "accepted" && json.code?.isEmpty == false
            words =
                [json.verdict, json.code].compactMap { $0 }.joined(separator: " ")
                + ((200...299).contains(answer.status) ? "" : " (\(answer.status))")
        case .notifications:
            isAccepted = (200...206).contains(answer.status)
            isRefused = !isAccepted
            words = ([String(answer.status)] + [json.code].compactMap { $0 }).joined(separator: " ")
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

    private struct Content: Decodable {
        var status: Int?
        var receipt: Receipt?
        var verdict: String?
        var code: String?

        init() {}

        init(json: Data) throws {
            try WrittenJSON.checkLimits(of: [UInt8](json))
            self = try JSONDecoder().decode(Content.self, from: json)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            // A problem document also has a `status`: the HTTP status.
            status = try? container.decode(Int.self, forKey: .status)
            receipt = try? container.decode(Receipt.self, forKey: .receipt)
            verdict = try? container.decode(String.self, forKey: .verdict)
            code = try? container.decode(String.self, forKey: .code)
        }

        enum Key: String, CodingKey { case status, receipt, verdict, code }
    }

    private struct Receipt: Decodable {
        let bundleID: String?
        let bid: String?
        let transactionID: String?
        let inApp: [Purchase]?

        enum CodingKeys: String, CodingKey {
            case bundleID = "bundle_id"
            case bid
            case transactionID = "transaction_id"
            case inApp = "in_app"
        }
    }

    private struct Purchase: Decodable {
        let transactionID: String

        enum CodingKeys: String, CodingKey { case transactionID = "transaction_id" }
    }
}
