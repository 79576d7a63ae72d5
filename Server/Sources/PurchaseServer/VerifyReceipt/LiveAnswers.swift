import PurchaseAPI
import PurchaseLedger
package import PurchaseVerification

/// Answers of `verifyReceipt` with what the ledger knows, which are never later than those without it by more than a
/// moment: what is not read in time is left out, and the answer says that it is as of signing.
struct LiveAnswers: Sendable {
    /// How long an answer waits for the database, in seconds.
    static let limit = 0.05

    /// An answer, and its JSON.
    typealias Written = (answer: VerifyReceiptService.Answer, json: [UInt8])

    let service: VerifyReceiptService
    let ledger: PurchaseLedger
    let deadlines: ShortDeadlines
    let workers: WorkerPool
    /// Asks the App Store on a miss.
    let news: any MissingNewsSource
    /// The time limit for that. Late answers of the App Store do not stop reads of the database.
    let newsDeadlines: ShortDeadlines

    /// The answer with the state of the ledger.
    ///
    /// - Returns: `nil` if nothing is known, or not in time.
    func answer(_ prepared: PreparedAnswer) async -> Written? {
        guard let question = prepared.question, let state = await state(question) else { return nil }
        let found = await write(state, prepared)
        // What the App Store answers has to be recorded, so a database that does not answer is not added to.
        guard let seconds = prepared.askSeconds, let missing = prepared.missing(found?.answer),
            await newsDeadlines.run(within: seconds, { try await news.fetch(missing) }) == true,
            let newer = await self.state(question)
        else { return found }
        return await write(newer, prepared) ?? found
    }

    private func state(_ question: StateOfReceipt) async -> ReceiptState? {
        await deadlines.run(within: Self.limit) { [ledger] in try await ledger.answer(question) }
    }

    private func write(_ state: ReceiptState, _ prepared: PreparedAnswer) async -> Written? {
        guard !state.isEmpty else { return nil }
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

/// The subscriptions of a receipt about whose latest period the ledger has no signed news.
package struct MissingNews: Sendable {
    /// The app of the settings.
    package let app: String
    package let bundleID: String
    package let environment: AppStoreEnvironment
    /// Their original transactions, in the order of the receipt.
    package let originals: [String]
}

/// Asks the App Store for news about subscriptions that the ledger lacks, and records them.
package protocol MissingNewsSource: Sendable {
    /// Asks about subscriptions, and records what the App Store signed.
    ///
    /// - Returns: whether anything was recorded, so that the state is read again.
    func fetch(_ news: MissingNews) async throws -> Bool
}
