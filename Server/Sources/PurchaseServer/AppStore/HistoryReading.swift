package import AppStoreConnection
import Foundation
package import PurchaseLedger
import PurchaseVerification

/// Reads the history of a customer of Apple's, by one of their purchases, and the statuses of their subscriptions.
///
/// The revision after the last page is kept, so reading again yields only what changed since.
package struct HistoryReading: Sendable {
    private let server: any AppStoreServer
    private let ledger: PurchaseLedger
    private let workers: WorkerPool

    package init(server: any AppStoreServer, ledger: PurchaseLedger, workers: WorkerPool) {
        (self.server, self.ledger, self.workers) = (server, ledger, workers)
    }

    /// What was read.
    package struct Outcome: Sendable {
        package var pages = 0
        package var transactions = 0
    }

    /// Where reading stands: the revision of the next page, and whether the last page was read once.
    struct Progress: Codable {
        var revision: String?
        var isComplete = false

        init(_ text: String?) {
            self = text.flatMap { try? JSONDecoder().decode(Self.self, from: Data($0.utf8)) } ?? Self()
        }

        init() {}

        var text: String? { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } }
    }

    /// A whole history.
    package struct History: Sendable {
        package let environment: ValidationEnvironment
        package var transactions: [TransactionJWS]
        /// Yields what changes later.
        package var revision: String?
        /// The transaction that was asked for, if it is a restored copy, which a history does not have.
        package var copy: TransactionJWS?
    }

    /// Fetches a whole history, and records nothing.
    ///
    /// - Parameter id: a transaction id; production is asked first, then the sandbox.
    /// - Throws: `AppStoreServerError`; a complete history without the id is somebody else's, unless the transaction of
    ///   the id proves to be a copy of one in it.
    package func fetch(_ id: String, for app: AppStoreServerApp) async throws(AppStoreServerError) -> History {
        var reader = PageReader(GetTransactionHistory(id), server, for: app)
        var (transactions, revision, isOfID) = ([TransactionJWS](), String?.none, false)
        while let page = try await reader.next() {
            transactions += page.transactions
            revision = page.revision
            isOfID = isOfID || page.concerns(id)
        }
        var history = History(
            environment: reader.environment ?? .production, transactions: transactions, revision: revision)
        guard !isOfID else { return history }
        // A restore gave the purchase a further number. Apple knows it, and its history has only the original.
        let copy = try await server.call(GetTransaction(id), for: app, in: history.environment).value
        let original = copy.content.originalTransactionID ?? id
        guard transactions.contains(where: { $0.original == original }) else {
            throw AppStoreServerError(
                .otherAnswer, history.environment, seen: "a history without the transaction \(original)")
        }
        history.transactions.append(copy)
        history.copy = copy
        return history
    }

    /// Notes that a history was fetched, so that only what changes later is read.
    package func noteRead(_ original: String, app: String, _ history: History) async throws {
        var progress = Progress()
        (progress.revision, progress.isComplete) = (history.revision, true)
        let task = LedgerWork(
            .history, app: app, environment: AppStoreEnvironment(history.environment.rawValue), subject: original,
            progress: progress.text)
        try await ledger.perform(NoteWork(task, next: nil))
    }

    /// Observes the statuses of the subscriptions of a customer of Apple's.
    package func observeStatus(
        of original: String, app name: String, for app: AppStoreServerApp, in environment: ValidationEnvironment
    ) async throws {
        let statuses = try await server.call(GetSubscriptionStatuses(original), for: app, in: environment)
        try await ServerAPIEvidence(ledger, workers).observe(statuses.value.signedTexts, app: name)
    }

    /// Reads what is new, and notes the progress of the task after each page.
    ///
    /// - Throws: `AppStoreServerError`, and the errors of the ledger.
    package func read(
        _ task: inout LedgerWork, for app: AppStoreServerApp, in environment: ValidationEnvironment
    ) async throws -> Outcome {
        var (outcome, progress) = (Outcome(), Progress(task.progress))
        let evidence = ServerAPIEvidence(ledger, workers)
        var isOfSubject = progress.revision != nil
        var subscriptions: Set<String> = []
        var restarted = false
        var reader = PageReader(
            GetTransactionHistory(task.subject, revision: progress.revision), server, for: app, in: environment)
        while true {
            let next: TransactionHistoryPage?
            do throws(AppStoreServerError) {
                next = try await reader.next()
            } catch {
                guard error.number == .invalidRevision, progress.revision != nil, !restarted else { throw error }
                (progress, restarted, isOfSubject) = (Progress(), true, false)
                reader = PageReader(GetTransactionHistory(task.subject), server, for: app, in: environment)
                continue
            }
            guard let page = next else { break }
            isOfSubject = isOfSubject || page.concerns(task.subject)
            // A complete history without what was asked for is somebody else's.
            guard isOfSubject || page.hasMore else {
                throw AppStoreServerError(
                    .otherAnswer, environment, seen: "a history without the transaction \(task.subject)")
            }
            subscriptions.formUnion(try await newSubscriptions(page, task))
            try await evidence.observe(page.transactions.map(\.text), app: task.app)
            outcome.pages += 1
            outcome.transactions += page.transactions.count
            progress.revision = page.revision
            progress.isComplete = progress.isComplete || !page.hasMore
            task.progress = progress.text
            try await ledger.perform(NoteWork(task, next: nil, isHeld: page.hasMore))
        }
        // One answer has all subscriptions of the customer of Apple's.
        if let asked = subscriptions.contains(task.subject) ? task.subject : subscriptions.min() {
            try await observeStatus(of: asked, app: task.app, for: app, in: environment)
        }
        return outcome
    }

    /// The subscriptions of a page whose statuses are asked for: the one that is read, and those that the ledger did
    /// not know. Every other has work of its own.
    private func newSubscriptions(_ page: TransactionHistoryPage, _ task: LedgerWork) async throws -> Set<String> {
        var found: Set<String> = []
        for transaction in page.transactions
        where transaction.content.productType == .autoRenewableSubscription {
            let original = transaction.original
            guard !found.contains(original) else { continue }
            if original != task.subject,
                try await ledger.answer(BundleOfOriginal(original, in: task.environment)) != nil
            {
                continue
            }
            found.insert(original)
        }
        return found
    }
}

extension TransactionJWS {
    /// The first transaction of the purchase.
    package var original: String { content.originalTransactionID ?? content.transactionID }
}
