import AppStoreConnection
import Logging
import PurchaseLedger
import PurchaseVerification
import Synchronization

/// Asks the App Store Server API for the statuses of subscriptions that an answer of `verifyReceipt` lacks, and
/// observes what Apple signed. The periods between the receipt and the latest one are read later, as a history.
final class StatusesForReceipts: MissingNewsSource {
    /// How long the same subscription is not asked about again, in seconds. Clients of `verifyReceipt` need no key, and
    /// each call counts against Apple's limit for the app.
    static let interval = 300.0
    /// The most calls for one answer. Usually one is enough: Apple answers with all subscriptions of its customer.
    private static let mostCalls = 3
    /// How many subscriptions are remembered as asked about.
    private static let mostRemembered = 10_000

    private let access: AppStoreAccess
    private let workers: WorkerPool
    private let uptime: @Sendable () -> Double
    private let logger: Logger
    private let asked = Mutex<[Subscription: Double]>([:])

    private struct Subscription: Hashable {
        let environment: ValidationEnvironment
        let bundleID: ExactText
        let originalID: ExactText
    }

    init(access: AppStoreAccess, workers: WorkerPool, uptime: @escaping @Sendable () -> Double, logger: Logger) {
        (self.access, self.workers, self.uptime, self.logger) = (access, workers, uptime, logger)
    }

    func fetch(_ news: MissingNews) async throws -> Bool {
        let terms = access.terms
        guard let environment = ValidationEnvironment(news.environment),
            let app = terms.app(news.app, bundleID: news.bundleID)
        else { return false }
        func subscription(_ original: String) -> Subscription {
            Subscription(
                environment: environment, bundleID: ExactText(news.bundleID), originalID: ExactText(original))
        }
        let evidence = ServerAPIEvidence(terms.ledger, workers)
        var (left, isNew) = (news.originals, false)
        for _ in 0..<Self.mostCalls {
            left.removeAll { !isDue(subscription($0)) }
            guard let original = left.first else { break }
            note(subscription(original))
            let statuses: SubscriptionStatuses
            do throws(AppStoreServerError) {
                statuses = try await access.server.call(GetSubscriptionStatuses(original), for: app, in: environment)
                    .value
            } catch {
                // No call was made, so the next answer may try again.
                if [.busy, .circuitOpen, .cancelled].contains(error.code) { forget(subscription(original)) }
                logger.info(
                    "the App Store did not tell the status of a subscription", metadata: ["error": "\(error.code)"])
                break
            }
            try await evidence.observe(statuses.signedTexts, app: news.app)
            for told in Set(statuses.subscriptions.map(\.originalTransactionID)) {
                isNew = true
                note(subscription(told))
                try await terms.ledger.perform(
                    ScheduleWork(
                        LedgerWork(.history, app: news.app, environment: news.environment, subject: told)))
            }
        }
        return isNew
    }

    private func isDue(_ subscription: Subscription) -> Bool {
        let now = uptime()
        return asked.withLock { asked in asked[subscription].map { now - $0 >= Self.interval } ?? true }
    }

    private func note(_ subscription: Subscription) {
        let now = uptime()
        asked.withLock { asked in
            if asked.count >= Self.mostRemembered { asked = asked.filter { now - $0.value < Self.interval } }
            // Beyond that many in the interval, Apple's limit for the app ends the calls.
            if asked.count < Self.mostRemembered { asked[subscription] = now }
        }
    }

    private func forget(_ subscription: Subscription) {
        asked.withLock { asked in asked[subscription] = nil }
    }
}
