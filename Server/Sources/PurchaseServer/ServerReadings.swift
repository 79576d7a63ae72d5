import AppStoreConnection
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle
import Synchronization

/// The values that metrics read. Those of the database are read by one task every few seconds, so a scrape costs it
/// nothing, however many monitors there are and however slow it is.
final class ServerReadings: Service {
    /// The time between two readings of the database.
    static let interval = Duration.seconds(5)

    let ledger: PurchaseLedger
    let database: any LedgerDatabase
    private let webhooks: Mutex<[Webhook]>
    /// The values that are at hand.
    private let immediate: @Sendable () -> [MetricSample]
    private let logger: Logger
    private let latest: Mutex<Latest>

    private struct Latest {
        var time: ContinuousClock.Instant
        var samples: [MetricSample] = []
        /// Whether the last reading failed, so that each outage is logged once.
        var isFailing = false
    }

    /// - Parameter immediate: the values that are read for each scrape.
    init(
        ledger: PurchaseLedger, database: any LedgerDatabase, webhooks: [Webhook], logger: Logger,
        immediate: @escaping @Sendable () -> [MetricSample]
    ) {
        (self.ledger, self.database, self.logger, self.immediate) = (ledger, database, logger, immediate)
        self.webhooks = Mutex(webhooks)
        latest = Mutex(Latest(time: .now))
    }

    /// Reads about these webhooks from now on.
    func replace(webhooks: [Webhook]) { self.webhooks.withLock { $0 = webhooks } }

    /// All values now.
    var samples: [MetricSample] {
        let load = database.load
        let latest = latest.withLock { $0 }
        let age = Double(max(0, (ContinuousClock.now - latest.time) / .milliseconds(1))) / 1000
        return immediate() + latest.samples + [
            MetricSample(.waitingWrites, Double(load.waiting)), MetricSample(.commitDuration, load.commits),
            MetricSample(.batchWrites, load.batches), MetricSample(.readingAge, age),
        ]
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.refresh()
                do {
                    try await Task.sleep(for: Self.interval)
                } catch {
                    // The server ends.
                    return
                }
            }
        }
    }

    /// Reads the database once.
    func refresh() async {
        do {
            let readings = try await ledger.answer(LedgerReadings())
            let condition = try await DatabaseCondition(of: database)
            let samples = Self.samples(readings, condition, webhooks.withLock { $0 })
            latest.withLock { $0 = Latest(time: .now, samples: samples) }
        } catch {
            // The values before stay, and their age says that they are old.
            let isFirst = latest.withLock { latest in
                defer { latest.isFailing = true }
                return !latest.isFailing
            }
            if isFirst { logger.warning("the values of metrics are not read", metadata: ["error": "\(error)"]) }
        }
    }

    private static func samples(
        _ readings: LedgerReadings.Answer, _ condition: DatabaseCondition, _ webhooks: [Webhook]
    ) -> [MetricSample] {
        func age(_ time: Timestamp?) -> Double {
            guard let time else { return 0 }
            return Double(max(0, readings.now.millisecondsSince1970 - time.millisecondsSince1970)) / 1000
        }
        let pending = readings.pending
        var samples = [
            MetricSample(.databaseSize, Double(condition.bytes)),
            MetricSample(.journalEntries, Double(readings.sealedEntries) + Double(pending.count)),
            MetricSample(.pendingEntries, Double(pending.count)), MetricSample(.sealingLag, age(pending.oldest)),
            MetricSample(.waitingClaims, Double(readings.waitingClaims.count)),
            MetricSample(.oldestWaitingClaim, age(readings.waitingClaims.oldest)),
            MetricSample(.heldStripeEvents, Double(readings.heldStripeEvents.count)),
        ]
        if let bytes = condition.writeAheadBytes { samples.append(MetricSample(.writeAheadSize, Double(bytes))) }
        // Of two receivers of an app on one host, the values are those of both together.
        var byLabels: [[String]: (waiting: Int, age: Double, givenUp: Int, isDisabled: Bool)] = [:]
        for webhook in webhooks {
            let found = readings.webhooks.first {
                $0.app == webhook.app && $0.stream == webhook.stream && $0.url == webhook.url.text
            }
            let labels = [webhook.app, webhook.url.host, webhook.stream.label]
            let before = byLabels[labels] ?? (0, 0, 0, false)
            byLabels[labels] = (
                before.waiting + (found?.waiting ?? 0), max(before.age, age(found?.oldest)),
                before.givenUp + (found?.givenUp ?? 0), before.isDisabled || found?.isDisabled ?? false
            )
        }
        for (labels, values) in byLabels {
            samples.append(MetricSample(.webhookWaiting, labels, Double(values.waiting)))
            samples.append(MetricSample(.webhookAge, labels, values.age))
            samples.append(MetricSample(.webhookGivenUp, labels, Double(values.givenUp)))
            samples.append(MetricSample(.webhookDisabled, labels, values.isDisabled ? 1 : 0))
        }
        return samples
    }
}

/// `GET /metrics`, on the listener for operators only: the text format of Prometheus.
struct MetricsRoutes {
    let metrics: ServerMetrics
    let readings: ServerReadings

    func add(to router: Router<ServerContext>) {
        for method in [HTTPRequest.Method.get, .head] {
            router.on("/metrics", method: method) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: PrometheusText.contentType],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text(readings.samples))))
            }
        }
    }
}
