package import Logging
import NIOCore
import NIOPosix
import PurchaseAPI
package import PurchaseLedger
package import PurchaseVerification
import Synchronization

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

    /// The answer about an app that moved: what this ledger knows of it is out of date.
    private static let moved: Written = {
        let response = VerifyReceiptResponse(status: .temporarilyUnavailable)
        return (VerifyReceiptService.Answer(response: response, reason: .appMoved), response.json())
    }()

    /// The answer with the state of the ledger.
    ///
    /// - Returns: `nil` if nothing is known, or not in time.
    func answer(_ prepared: PreparedAnswer) async -> Written? {
        guard let question = prepared.question, let state = await state(question) else {
            // Without the database, what this process read last.
            return prepared.bundleID.flatMap { ledger.placeOfMoved(bundleID: $0) }.map { _ in Self.moved }
        }
        guard !state.hasMoved else { return Self.moved }
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

/// The answer that the receipt alone gives, and what to ask the ledger for a newer one.
package struct PreparedAnswer: Sendable {
    /// What the answer is about.
    enum Subject: Sendable {
        case app(VerifyReceiptService.Sent, AppReceipt)
        case transaction(VerifyReceiptService.Sent, TransactionReceipt)
        case signed(VerifyReceiptService.Sent, SignedTransaction)
    }

    /// The answer as of signing.
    package let answer: VerifyReceiptService.Answer
    /// The question; `nil` if nothing can be known about the receipt.
    package var question: StateOfReceipt?
    /// The bundle id of genuine evidence.
    var bundleID: String?
    /// The app of the receipt; `nil` if the settings have none, or if it was refused.
    package var app: String?
    /// The evidence, for a record of it.
    package var evidence: [UInt8]?
    /// How long the answer waits for the App Store on a miss, in seconds; `nil` if it is not asked.
    var askSeconds: Double?
    /// What was verified, and how long it took, for metrics; `nil` if nothing was.
    var verification: (kind: EvidenceKind?, error: ReasonCode?, duration: Duration)?
    var subject: Subject?
    /// Whether a genuine signed transaction was sent, also if it is refused.
    package var isOfSignedTransaction: Bool {
        verification.map { $0.kind == .signedTransaction && $0.error == nil } ?? false
    }
    /// The statements of the receipt.
    var observation: Observation?

    init(_ answer: VerifyReceiptService.Answer) { self.answer = answer }

    /// The subscriptions without signed news in an answer.
    ///
    /// - Parameter answer: the answer with the state of the ledger; `nil` if that is nothing.
    /// - Returns: `nil` if there are none.
    func missing(_ answer: VerifyReceiptService.Answer?) -> MissingNews? {
        guard let app, let question, let observation else { return nil }
        var originals = answer?.unconfirmed ?? []
        if answer == nil {
            for facts in observation.transactionFacts where facts.kind == .autoRenewable {
                let original = facts.original.transactionID.string
                if !originals.contains(where: { ExactText($0) == ExactText(original) }) { originals.append(original) }
            }
        }
        guard !originals.isEmpty else { return nil }
        return MissingNews(
            app: app, bundleID: question.bundleID.string, environment: question.environment, originals: originals)
    }
}

/// Logs answers of `verifyReceipt` without state because the database gave none: the first at once, later ones together
/// in one line a minute, so that a database that is away for a day costs as many lines as the day has minutes.
package final class StateMissLog: Sendable {
    private let period: Duration
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        /// Whether the line of the current period is written.
        var isOpen = false
        var counts: [ShortDeadlines.Miss.Kind: Int] = [:]
        var latest: (any Error)?
    }

    /// - Parameter period: the time between two lines.
    package init(period: Duration = .seconds(60), logger: Logger) { (self.period, self.logger) = (period, logger) }

    /// Notes a read that gave nothing.
    package func note(_ miss: ShortDeadlines.Miss) {
        let isFirst = state.withLock { state in
            state.counts[miss.kind, default: 0] += 1
            if case .failed(let error) = miss { state.latest = error }
            defer { state.isOpen = true }
            return !state.isOpen
        }
        if isFirst { write() }
    }

    /// Writes a line if there was anything, and looks again after the period.
    private func write() {
        let (counts, latest) = state.withLock { state in
            defer { (state.counts, state.latest) = ([:], nil) }
            state.isOpen = !state.counts.isEmpty
            return (state.counts, state.latest)
        }
        guard !counts.isEmpty else { return }
        var facts: Logger.Metadata = ["answers": .stringConvertible(counts.values.reduce(0, +))]
        for (kind, count) in counts { facts[kind.rawValue] = .stringConvertible(count) }
        if let error = latest as? LedgerStorageError {
            facts["code"] = "\(error.kind.rawValue)"
            facts["error"] = "\(error.detail)"
        } else if let latest {
            // The text of an unknown error may contain anything.
            facts["error"] = "\(type(of: latest))"
        }
        logger.warning("the state of receipts was not read, and answers are as of signing", metadata: facts)
        MultiThreadedEventLoopGroup.singleton.any()
            .scheduleTask(in: .nanoseconds(Int64(period / .nanoseconds(1)))) { self.write() }
    }
}
