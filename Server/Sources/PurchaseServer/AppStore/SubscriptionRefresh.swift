import AppStoreConnection
import Logging
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// Asks Apple for the statuses of a customer's own subscriptions, and observes what Apple signed.
struct SubscriptionRefresh: Sendable {
    /// How long a request waits for Apple. What arrives later is observed nevertheless.
    static let time = Duration.seconds(5)
    /// The most calls for one request. Usually one is enough: Apple answers with all subscriptions of its customer.
    private static let mostCalls = 5

    let access: AppStoreAccess
    let evidence: ServerAPIEvidence
    let logger: Logger

    /// What became of a request to ask Apple.
    enum Outcome: String, Sendable {
        /// Apple answered about every subscription.
        case answered
        /// Apple did not answer about each of them in time.
        case unanswered
        /// The app has no key of the App Store Server API.
        case notConfigured = "not_configured"
        /// The customer owns no subscription.
        case noSubscription = "no_subscription"
    }

    /// Asks about the subscriptions of a customer, and waits for at most `time`.
    func run(app: String, customerID: String) async throws -> Outcome {
        let terms = access.terms
        guard terms.names.contains(where: { $0.isSame(as: app) }) else { return .notConfigured }
        let owned = try await terms.ledger.answer(SubscriptionsOfCustomer(app: app, customerID: customerID))
            .subscriptions.filter { $0.seat == nil }
        guard !owned.isEmpty else { return .noSubscription }
        let end = ContinuousClock.now + Self.time
        let work = Task { await ask(about: owned, app, terms) }
        let timer = Task {
            // The request is cancelled when the server stops.
            try? await Task.sleep(until: end, clock: .continuous)
            return false
        }
        let (first, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let watches = [work, timer].map { task in
            Task {
                continuation.yield(await task.value)
                continuation.finish()
            }
        }
        defer {
            timer.cancel()
            for watch in watches { watch.cancel() }
        }
        for await isAnswered in first { return isAnswered ? .answered : .unanswered }
        return .unanswered
    }

    /// - Returns: whether Apple answered about all of them.
    private func ask(
        about owned: [SubscriptionMessage], _ name: String, _ terms: AppStoreTerms
    ) async -> Bool {
        var (left, calls) = (owned, 0)
        while let subscription = left.first, calls < Self.mostCalls {
            calls += 1
            do {
                let original = subscription.originalTransactionID
                let stated = AppStoreEnvironment(subscription.entitlement.environment.rawValue)
                let bundleID = try await terms.ledger.answer(BundleOfOriginal(original, in: stated))
                guard let environment = ValidationEnvironment(stated),
                    let app = terms.app(name, bundleID: bundleID ?? terms.apps[name]?.bundleIDs.min())
                else { return false }
                let statuses = try await access.server.call(
                    GetSubscriptionStatuses(original), for: app, in: environment)
                try statuses.value.requireOne(environment)
                var told: Set<String> = [original]
                told.formUnion(statuses.value.subscriptions.map(\.originalTransactionID))
                try await evidence.observe(statuses.value.signedTexts, app: name)
                left.removeAll { told.contains($0.originalTransactionID) }
            } catch {
                logger.notice(
                    "the App Store did not tell the status of a subscription",
                    metadata: ["error": "\((error as? AppStoreServerError)?.code.rawValue ?? "\(type(of: error))")"])
                return false
            }
        }
        return left.isEmpty
    }
}
