/// The metrics of a server. Their names follow OpenTelemetry where it has a name; docs/metrics.md lists them.
package enum ServerMetric: String, Sendable, CaseIterable {
    case requestDuration = "http.server.request.duration"
    case activeRequests = "http.server.active_requests"
    case refusals = "assay.refusals"
    case openConnections = "assay.connections.open"
    case openStreams = "assay.event_streams.open"
    case waitingWork = "assay.workers.waiting"
    case verifications = "assay.verifications"
    case verificationDuration = "assay.verification.duration"
    case claims = "assay.claims"
    case waitingClaims = "assay.claims.waiting"
    case oldestWaitingClaim = "assay.claims.waiting.oldest"
    case isReady = "assay.ready"
    case commitDuration = "assay.database.commit.duration"
    case batchWrites = "assay.database.batch.writes"
    case waitingWrites = "assay.database.waiting_writes"
    case databaseSize = "assay.database.size"
    case writeAheadSize = "assay.database.wal.size"
    case readingAge = "assay.database.reading.age"
    case journalEntries = "assay.journal.entries"
    case pendingEntries = "assay.journal.pending_entries"
    case sealingLag = "assay.sealing.lag"
    case sealingRounds = "assay.sealing.rounds"
    case webhookAttempts = "assay.webhook.attempts"
    case webhookWaiting = "assay.webhook.waiting_events"
    case webhookAge = "assay.webhook.oldest_event.age"
    case webhookGivenUp = "assay.webhook.given_up_events"
    case webhookDisabled = "assay.webhook.disabled"
    case appStoreCalls = "assay.app_store.call.duration"
    case openCircuits = "assay.app_store.circuit_open"
    case clockSkew = "assay.app_store.clock_skew"
    case notifications = "assay.notifications"
    case notificationLag = "assay.notification.lag"
    case heldStripeEvents = "assay.stripe.held_events"
    case certificateEnd = "assay.tls.certificate.end"
    case certificateLoads = "assay.tls.certificate.loads"
    case residentMemory = "process.resident_memory"
    case processorTime = "process.cpu"
    case openFiles = "process.open_fds"
    case startTime = "process.start_time"
    case build = "assay.build.info"

    package var definition: MetricDefinition {
        switch self {
        case .requestDuration:
            .init(
                self, .histogram(Self.durations), .seconds,
                "From the head of a request to the head of its answer, by method, route template and class of the status",
                ["http_request_method", "http_route", "status_class"])
        case .activeRequests: .init(self, .gauge, .none, "The requests that are being answered")
        case .refusals: .init(self, .counter, .none, "The answers that refuse something, by their code", ["code"])
        case .openConnections: .init(self, .gauge, .none, "The open connections of a listener", ["listener"])
        case .openStreams: .init(self, .gauge, .none, "The open streams of events")
        case .waitingWork:
            .init(self, .gauge, .none, "The pieces of evidence that are being verified or wait for a thread")
        case .verifications:
            .init(
                self, .counter, .none, "The verifications, by kind of evidence and verified or the reason code",
                ["evidence", "code"])
        case .verificationDuration:
            .init(
                self, .histogram(Self.verificationTimes), .seconds, "How long a verification took, by kind of evidence",
                ["evidence"])
        case .claims:
            .init(self, .counter, .none, "The answered claims, by verdict and code", ["verdict", "code"])
        case .waitingClaims:
            .init(self, .gauge, .none, "The claims that wait for the App Store, counted up to 10,000")
        case .oldestWaitingClaim: .init(self, .gauge, .seconds, "How long the oldest of them has waited")
        case .isReady: .init(self, .gauge, .none, "1 if the database accepted the last test write, as /readyz says")
        case .commitDuration:
            .init(self, .histogram([]), .seconds, "How long a commit took until it was durable")
        case .batchWrites:
            .init(self, .histogram([]), .none, "The writes that one transaction committed")
        case .waitingWrites: .init(self, .gauge, .none, "The writes that wait for a transaction")
        case .databaseSize: .init(self, .gauge, .bytes, "The size of the database")
        case .writeAheadSize:
            .init(self, .gauge, .bytes, "The size of the write-ahead log of SQLite; absent with PostgreSQL")
        case .readingAge:
            .init(self, .gauge, .seconds, "The age of the values that are read from the database every five seconds")
        case .journalEntries: .init(self, .gauge, .none, "The entries of the journal")
        case .pendingEntries: .init(self, .gauge, .none, "The entries that are not sealed yet")
        case .sealingLag: .init(self, .gauge, .seconds, "The age of the oldest entry that is not sealed")
        case .sealingRounds:
            .init(self, .counter, .none, "The rounds of sealing: done, refused or failed", ["result"])
        case .webhookAttempts:
            .init(
                self, .counter, .none, "The attempts to deliver, by webhook and delivered or the failure",
                ["app", "host", "stream", "result"])
        case .webhookWaiting:
            .init(
                self, .gauge, .none, "The events that a webhook has not got, counted up to 20,000",
                ["app", "host", "stream"])
        case .webhookAge: .init(self, .gauge, .seconds, "The age of the oldest of them", ["app", "host", "stream"])
        case .webhookGivenUp:
            .init(self, .gauge, .none, "The events that were given up, up to 10,000", ["app", "host", "stream"])
        case .webhookDisabled: .init(self, .gauge, .none, "1 if the webhook is disabled", ["app", "host", "stream"])
        case .appStoreCalls:
            .init(
                self, .histogram(Self.durations), .seconds,
                "How long a call of the App Store took with its retries, by operation and answered or the failure",
                ["operation", "result"])
        case .openCircuits:
            .init(
                self, .gauge, .none, "1 while the App Store is not asked, because it did not answer",
                ["api", "environment"])
        case .clockSkew:
            .init(
                self, .gauge, .seconds,
                "How far this machine's clock is ahead of the App Store's, by its last answer; absent before the first")
        case .notifications:
            .init(
                self, .counter, .none, "The genuine notifications, by type and recorded, repeated or refused",
                ["type", "result"])
        case .notificationLag:
            .init(
                self, .histogram([1, 2, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400, 259_200]), .seconds,
                "From Apple's signature to the commit of a new notification")
        case .heldStripeEvents:
            .init(self, .gauge, .none, "The events of Stripe that wait for a setting or a customer, counted up to 100")
        case .certificateEnd:
            .init(self, .gauge, .timestamp, "When the certificate of the listener for clients ends; absent without one")
        case .certificateLoads:
            .init(self, .counter, .none, "The certificates that were read again: loaded or refused", ["result"])
        case .residentMemory: .init(self, .gauge, .bytes, "The resident memory of the process")
        case .processorTime: .init(self, .total, .seconds, "The processor time of the process")
        case .openFiles: .init(self, .gauge, .none, "The open files and connections of the process")
        case .startTime: .init(self, .gauge, .seconds, "When the process started, in seconds since 1970")
        case .build: .init(self, .gauge, .none, "1, with the version and the commit as labels", ["version", "commit"])
        }
    }

    /// Seconds from the fastest answers to the longest waits for the App Store.
    private static let durations = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]
    /// Seconds from a known certificate path to the most expensive forgery.
    private static let verificationTimes = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25]
}
