import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The parts that tests of claims and the App Store's answer need. Its receipts are of the sandbox.
extension LedgerWorld {
    /// A receipt with one purchase of three coins for each number.
    static func coinReceipt(_ numbers: Int..., cancelled: Date? = nil) throws -> [UInt8] {
        try receipt(
            numbers.map { number in
                var purchase = PurchaseTemplate.consumable(
                    productID: coins, transactionID: "\(number)", purchaseDate: MintedWorld.moment, quantity: 3)
                purchase.cancellationDate = cancelled
                return purchase
            })
    }

    static func key(_ transaction: String) -> TransactionKey {
        TransactionKey(environment: .sandbox, transactionID: ExactText(transaction))
    }

    /// The App Store's agreement, with its own reply.
    static func agreement(_ change: (inout AppStoreAnswer) -> Void = { _ in }) -> AppStoreAnswer {
        var answer = AppStoreAnswer()
        (answer.environment, answer.status) = ("Sandbox", 0)
        answer.reply = Array(#"{"status":0,"environment":"Sandbox"}"#.utf8)
        change(&answer)
        return answer
    }

    /// Records the App Store's answer about a claim.
    @discardableResult
    func answer(_ claim: UUID, _ answer: AppStoreAnswer) async throws -> RecordAppStoreAnswer.Outcome {
        guard let asked = try await ledger.answer(AppStoreClaimByID(claim)) else { return .alreadyRecorded }
        return try await ledger.perform(RecordAppStoreAnswer(ledger.examine(asked, answer)))
    }

    /// The outcome of a claim that the App Store's answer decides.
    func decision(_ claim: UUID, _ answer: AppStoreAnswer) async throws -> PurchaseOutcome {
        let outcome = try await self.answer(claim, answer)
        guard case .decided(let decided) = outcome else {
            Issue.record("the claim was not decided: \(outcome)")
            throw CancellationError()
        }
        return decided
    }

    func balance(of customer: String = customer) async throws -> Int64? {
        try await entitlement(of: customer, environment: .sandbox)?.balance
    }

    func submission(_ id: UUID) async throws -> SubmissionMessage {
        try #require(try await ledger.answer(SubmissionByID(app: "example", submissionID: id)))
    }
}
