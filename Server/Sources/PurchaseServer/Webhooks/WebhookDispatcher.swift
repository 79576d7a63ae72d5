import Foundation
package import Logging
package import NIOCore
package import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle
import Synchronization

/// Delivers events to the webhooks of the settings, and forwards notifications, until it is stopped. The settings can
/// be replaced meanwhile.
package final class WebhookDispatcher: Sendable {
    private let logger: Logger
    private let resolver: NameResolver
    private let attemptLimit: TimeAmount
    private let clock: @Sendable () -> Timestamp
    private let limits: WebhookLimits
    /// Distinguishes this server from others.
    private let owner: WebhookOwner
    private let traces: RecentTraces
    private let metrics: ServerMetrics
    private let running = Mutex<[Running]>([])
    private let isBegun = Mutex(false)

    private struct Running: Sendable {
        let webhook: Webhook
        let task: Task<Void, Never>
    }

    /// - Parameters:
    ///   - logger: where to log; no URL, secret or body is logged.
    ///   - owner: distinguishes this server from others.
    ///   - resolver: resolves the names of receivers.
    ///   - attemptLimit: how long an attempt may take.
    ///   - traces: the traces that events belong to.
    ///   - clock: the ledger's clock.
    package convenience init(
        logger: Logger, owner: WebhookOwner = WebhookOwner(holderOf: nil), resolver: NameResolver,
        attemptLimit: TimeAmount = WebhookClient.attemptLimit, traces: RecentTraces = RecentTraces(),
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.init(
            logger: logger, owner: owner, resolver: resolver, attemptLimit: attemptLimit, traces: traces,
            metrics: ServerMetrics(), clock: clock)
    }

    /// - Parameter metrics: counts the attempts.
    init(
        logger: Logger, owner: WebhookOwner, resolver: NameResolver,
        attemptLimit: TimeAmount = WebhookClient.attemptLimit, traces: RecentTraces, metrics: ServerMetrics,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        (self.traces, self.metrics) = (traces, metrics)
        self.logger = logger
        self.attemptLimit = attemptLimit
        self.clock = clock
        self.resolver = resolver
        limits = WebhookLimits()
        self.owner = owner
    }

    /// Delivers to these webhooks from now on. Unchanged webhooks continue undisturbed, with the ledger that they have.
    package func deliver(to webhooks: [Webhook], from ledger: PurchaseLedger) {
        isBegun.withLock { $0 = true }
        let ended = running.withLock { running in
            let ended = running.filter { !webhooks.contains($0.webhook) }
            running.removeAll { !webhooks.contains($0.webhook) }
            for webhook in webhooks where !running.contains(where: { $0.webhook == webhook }) {
                // A webhook with other secrets has the same row in the database, so the previous one first releases the
                // lease.
                let before = ended.first {
                    $0.webhook.url == webhook.url && $0.webhook.app == webhook.app
                        && $0.webhook.stream == webhook.stream
                }?.task
                running.append(Running(webhook: webhook, task: start(webhook, ledger, after: before)))
            }
            return ended
        }
        for sender in ended { sender.task.cancel() }
    }

    /// Ends all deliveries, and records the delivered events.
    package func stop() async {
        let ended = running.withLock { running in
            defer { running = [] }
            return running
        }
        for sender in ended { sender.task.cancel() }
        for sender in ended { await sender.task.value }
    }

    /// The deliveries of a server, from its start to its end.
    struct Delivery: Service {
        let dispatcher: WebhookDispatcher
        let webhooks: [Webhook]
        let ledger: PurchaseLedger

        func run() async throws {
            // A reload may have come first.
            if !dispatcher.isBegun.withLock({ $0 }) { dispatcher.deliver(to: webhooks, from: ledger) }
            do {
                try await gracefulShutdown()
            } catch {
                // The server could not start, or failed.
            }
            await dispatcher.stop()
        }
    }

    private func start(_ webhook: Webhook, _ ledger: PurchaseLedger, after before: Task<Void, Never>?) -> Task<
        Void, Never
    > {
        let (logger, resolver, owner, limits) = (logger, resolver, owner, limits)
        let (attemptLimit, clock, traces, metrics) = (attemptLimit, clock, traces, metrics)
        return Task {
            await before?.value
            do {
                let client = try WebhookClient(webhook, resolver: resolver, attemptLimit: attemptLimit)
                let sender = WebhookSender(
                    webhook: webhook, ledger: ledger, client: client, owner: owner, logger: logger,
                    traces: traces, metrics: metrics, clock: clock,
                    limits: webhook.forwardedEnvironment == nil ? limits : limits.ofNotifications)
                await sender.run()
            } catch {
                logger.error(
                    "the certificates of a webhook cannot be used, and nothing is delivered to it",
                    metadata: ["app": "\(webhook.app)", "host": "\(webhook.url.host)"])
            }
        }
    }
}

/// The limits of one webhook's deliveries.
struct WebhookLimits: Sendable {
    /// Attempts at the same time. A slow receiver does not delay others; 32 attempts of 15 ms each are 2,000 a second.
    var concurrency = 32
    /// The number of them for events that were not delivered before, so that slow failures leave room for new events.
    var repeated = 16
    /// Events in memory; their bodies are below a kilobyte.
    var window = 1024
    /// Events that are read at a time.
    var page = 512
    /// Rows of events that were not delivered or wait. Beyond it no new events are read, so that a receiver that is
    /// down for long does not fill the table: its events wait in the list of events.
    var pending = 10_000
    /// Failures in a row after which new events are attempted one at a time, and seldom.
    var failures = 8
    /// The longest pause between these, in milliseconds.
    var longestPause: Int64 = 60_000
    /// The interval between two searches for new events, in seconds.
    var tick = 0.2
    /// The interval between two records of deliveries, in milliseconds. After a crash the events since then are sent
    /// again: about a hundred at 2,000 deliveries a second.
    var recordInterval: Int64 = 50
    /// The interval between two attempts to take a lease that another server has, in seconds.
    var leaseInterval = 2.0
    /// The interval between two renewals of the lease if nothing happens, in milliseconds.
    var renewal: Int64 = 15_000

    /// The limits for notifications, whose bodies have 10 kilobytes, and 384 at most: 48 MiB in memory in all.
    var ofNotifications: WebhookLimits {
        var limits = self
        (limits.window, limits.page) = (128, 64)
        return limits
    }
}
