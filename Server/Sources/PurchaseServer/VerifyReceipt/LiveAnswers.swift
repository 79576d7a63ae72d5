import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// Answers of `verifyReceipt` with what the ledger knows, which are never later than those without it by more than a
/// moment: what is not read in time is left out, and the answer says that it is as of signing.
struct LiveAnswers: Sendable {
    /// How long an answer waits for the database, in seconds.
    static let limit = 0.05

    let service: VerifyReceiptService
    let ledger: PurchaseLedger
    let deadlines: ShortDeadlines
    let workers: WorkerPool
    /// Asks the App Store on a miss.
    let news: (any MissingNewsSource)?
    /// The time limit for that. Late answers of the App Store do not stop reads of the database.
    let newsDeadlines: ShortDeadlines

    /// The answer with the state of the ledger, and its JSON.
    ///
    /// - Returns: `nil` if nothing is known, or not in time.
    func answer(_ prepared: PreparedAnswer) async -> (answer: VerifyReceiptService.Answer, json: [UInt8])? {
        guard let question = prepared.question else { return nil }
        let found = await read(question, prepared)
        guard let news, let app = prepared.app, found.map({ !$0.answer.isLive }) ?? true, news.isAsked(for: app),
            await newsDeadlines.run(within: news.budget, { try await news.fetch(question, app: app) }) == true
        else { return found }
        return await read(question, prepared) ?? found
    }

    private func read(
        _ question: StateOfReceipt, _ prepared: PreparedAnswer
    ) async -> (answer: VerifyReceiptService.Answer, json: [UInt8])? {
        let state = await deadlines.run(within: Self.limit) { [ledger] in try await ledger.answer(question) }
        guard let state, !state.isEmpty else { return nil }
        do {
            return try await workers.run { [service] in
                let answer = service.answer(prepared, state)
                return (answer, answer.response.json())
            }
        } catch {
            // The workers are busy; the answer as of signing is complete.
            return nil
        }
    }
}
