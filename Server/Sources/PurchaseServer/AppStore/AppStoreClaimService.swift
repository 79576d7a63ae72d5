import AppStoreConnection
import Foundation
import Logging
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle
import Synchronization

/// Asks the App Store about claims: at once about those of a request, and when they are due about those that wait.
///
/// A claim is asked about by one server at a time (`AppStoreClaim.lease`); the server that records the App Store's
/// answer first decides it.
final class AppStoreClaimService: Service {
    private let client: any ReceiptValidation
    /// The App Store Server API, for claims and for everything else that is asked of it.
    let server: any AppStoreServer
    /// This machine's clock against the App Store's.
    let skew: ClockSkew
    private let endClient: @Sendable () async throws -> Void
    private let questioner: ClaimQuestioner
    private let timing: AppStoreTiming
    private let workers: WorkerPool
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let changes: AsyncStream<(ValidationEnvironment, CircuitBreaker.Change)>
    private let terms: Box
    private let state = Mutex(State())

    /// The settings in force.
    private final class Box: Sendable {
        let value: Mutex<AppStoreTerms>

        init(_ value: AppStoreTerms) { self.value = Mutex(value) }
    }

    private struct State {
        var questions: [UUID: Task<Result, Never>] = [:]
        var isEnded = false
        /// The requests that wait for an outcome.
        var waiting = 0
    }

    /// The outcome of a question.
    enum Result: Sendable {
        case recorded(RecordAppStoreAnswer.Outcome)
        /// The App Store gave no answer and will be asked again.
        case postponed(to: Timestamp)
        /// The database cannot be used. The claim is asked about again when its lease ends.
        case failed
    }

    /// - Parameters:
    ///   - ledger: the ledger of the claims.
    ///   - configuration: the trusted certificates, the shared secrets, and the addresses of the App Store.
    ///   - connectionClock: the clock of pauses and circuit breakers.
    ///   - limits: the time limits of an attempt.
    ///   - clock: the ledger's clock.
    ///   - metrics: counts the calls.
    ///   - logger: where to log; no receipt, reply or secret is logged.
    /// - Throws: `AppStoreConnectionSettingsError` if the trusted authorities cannot be read.
    init(
        ledger: PurchaseLedger, configuration: ServerConfiguration, timing: AppStoreTiming?,
        connectionClock: ConnectionClock, limits: AttemptLimits, clock: @escaping @Sendable () -> Timestamp,
        metrics: ServerMetrics, logger: Logger
    ) throws {
        let skew = ClockSkew(onExcess: { logger.warning("\($0)") })
        self.skew = skew
        let (changes, continuation) = AsyncStream<(ValidationEnvironment, CircuitBreaker.Change)>.makeStream()
        let client = try VerifyReceiptClient(
            try configuration.appStore.connection(), limits: limits, clock: connectionClock, skew: skew
        ) { continuation.yield(($0, $1)) }
        let server = try AppStoreServerClient(
            try configuration.appStore.serverAPI(), limits: limits, clock: connectionClock,
            storeTime: { AppStoreTime(millisecondsSince1970: clock().millisecondsSince1970) }, skew: skew
        ) { continuation.yield(($0, $1)) }
        let (receipts, calls) = (
            MeasuredReceiptValidation(client: client, metrics: metrics),
            MeasuredAppStoreServer(server: server, metrics: metrics)
        )
        (self.client, self.server) = (receipts, calls)
        endClient = {
            try await client.shutdown()
            try await server.shutdown()
        }
        self.changes = changes
        self.timing = timing ?? configuration.appStore.timing
        self.clock = clock
        self.logger = logger
        let terms = Box(AppStoreTerms(ledger, configuration))
        self.terms = terms
        workers = WorkerPool(limit: configuration.limits.waitingVerifications)
        questioner = ClaimQuestioner(
            client: receipts, server: calls, workers: workers, clock: clock, logger: logger
        ) { terms.value.withLock { $0 } }
    }

    /// Asks every later question under other settings. The addresses of the App Store stay as they were at the start.
    func replaceSettings(by configuration: ServerConfiguration, ledger: PurchaseLedger) {
        terms.value.withLock { $0 = AppStoreTerms(ledger, configuration) }
    }

    // MARK: Requests

    /// Begins to ask about a claim that was just recorded.
    func begin(_ claim: UUID) { _ = question(claim, isNew: true) }

    /// The latest time at which a request that arrives now is answered.
    var deadline: ContinuousClock.Instant { ContinuousClock.now + timing.answersWithin }

    /// The requests that may wait for an outcome; further ones are answered at once. Each holds its evidence.
    private static let mostWaiting = 256

    /// Waits for the outcome of a claim.
    ///
    /// - Parameters:
    ///   - isNew: whether this server has the lease of the claim, because it just recorded it.
    ///   - end: the latest time at which the request is answered.
    /// - Returns: `nil` if nothing is known yet.
    func result(of claim: UUID, isNew: Bool, until end: ContinuousClock.Instant) async throws -> Result? {
        let own = isNew ? question(claim, isNew: true) : nil
        let mayWait = state.withLock { state in
            guard state.waiting < Self.mostWaiting else { return false }
            state.waiting += 1
            return true
        }
        guard mayWait else { return nil }
        defer { state.withLock { $0.waiting -= 1 } }
        while true {
            if let question = own ?? question(claim, isNew: false) { return await first(of: question, until: end) }
            // Another request is about to ask, another server asks, or there is an outcome.
            switch try await ledger.answer(AppStoreClaimState(claim)) {
            case .decided: return .recorded(.alreadyRecorded)
            case .postponed(let next): return .postponed(to: next)
            case nil: return nil
            case .asked: break
            }
            guard ContinuousClock.now < end else { return nil }
            try await Task.sleep(for: min(Self.pollInterval, timing.answersWithin))
        }
    }

    /// The interval at which a request checks whether another server has the outcome.
    private static let pollInterval = Duration.milliseconds(200)

    /// The outcome of a question, if it comes in time.
    private func first(of question: Task<Result, Never>, until end: ContinuousClock.Instant) async -> Result? {
        let (first, continuation) = AsyncStream<Result?>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let watch = Task {
            continuation.yield(await question.value)
            continuation.finish()
        }
        let timer = Task {
            do {
                try await Task.sleep(until: end, clock: .continuous)
                continuation.yield(nil)
            } catch {
                // The answer came first.
            }
            continuation.finish()
        }
        defer {
            watch.cancel()
            timer.cancel()
        }
        for await result in first { return result }
        return nil
    }

    /// The question about a claim that is in progress.
    private func question(_ claim: UUID, isNew: Bool) -> Task<Result, Never>? {
        state.withLock { state in
            if let known = state.questions[claim] { return known }
            guard isNew else { return nil }
            let question = Task {
                let result = await self.questioner.ask(claim)
                self.state.withLock { $0.questions[claim] = nil }
                return result
            }
            state.questions[claim] = question
            return question
        }
    }

    // MARK: Claims that wait

    /// Works until the server stops. Questions in progress are then ended, and asked again at the next start.
    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.followCircuits() }
                group.addTask { await self.askAboutDueClaims() }
            }
        }
        await end()
    }

    /// Closes the connections, and waits for the questions in progress. A service that never ran needs it too.
    func end() async {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        guard isFirst else { return }
        do {
            try await endClient()
        } catch {
            logger.warning("the connections to the App Store were not closed", metadata: ["error": "\(error)"])
        }
        for question in state.withLock({ Array($0.questions.values) }) { _ = await question.value }
    }

    /// Makes the waiting claims due when the App Store answers again.
    private func followCircuits() async {
        for await (environment, change) in changes {
            let metadata: Logger.Metadata = ["environment": "\(environment.rawValue)"]
            switch change {
            case .opened:
                logger.warning(
                    "the App Store does not answer; the server tries again from time to time", metadata: metadata)
            case .closed:
                logger.notice("the App Store answers again", metadata: metadata)
                do {
                    try await ledger.perform(RetryAppStoreClaimsNow())
                } catch {
                    // They are due at their own times.
                    log(error)
                }
            }
        }
    }

    private func askAboutDueClaims() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                do {
                    let claims = try await lease()
                    for claim in claims { group.addTask { _ = await self.question(claim, isNew: true)?.value } }
                    for claim in try await leaseOverdue() { group.addTask { await self.questioner.giveUp(claim) } }
                    // Usually more claims are due than were just taken.
                    let isBusy = claims.count > 1
                    try await Task.sleep(for: isBusy ? min(Self.pollInterval, timing.looksEvery) : timing.looksEvery)
                } catch is CancellationError {
                    return
                } catch {
                    log(error)
                    // A database error, after which the service waits as after any other round.
                    do { try await Task.sleep(for: timing.looksEvery) } catch { return }
                }
            }
        }
    }

    /// Takes claims that are due, as many as may be asked about now.
    private func lease() async throws -> [UUID] {
        let free = AppStoreTiming.atOnce - state.withLock { $0.questions.count }
        let limit = min(free, questionsThatTheCircuitTakes)
        guard limit > 0, try await ledger.answer(DueAppStoreClaims(limit: 1)) > 0 else { return [] }
        return try await ledger.perform(LeaseAppStoreClaims(limit: limit))
    }

    /// Takes claims that waited for the maximum time, even if the circuit is open.
    private func leaseOverdue() async throws -> [UUID] {
        let end = Timestamp(millisecondsSince1970: clock().millisecondsSince1970 - timing.givesUpAfter)
        let overdue = OverdueAppStoreClaims(since: end, limit: 1)
        guard try await ledger.answer(overdue) > 0 else { return [] }
        return try await ledger.perform(LeaseAppStoreClaims(limit: AppStoreTiming.atOnce, overdueSince: end))
    }

    /// One claim is the probe of an open circuit; the others rest, instead of being refused one by one. The two
    /// interfaces of the App Store have a circuit each; apps without keys use only one.
    private var questionsThatTheCircuitTakes: Int {
        let receipts = Self.questions(of: client.circuit(of: .production))
        guard !questioner.terms().serverApps.isEmpty else { return receipts }
        return max(receipts, Self.questions(of: server.circuit(of: .production)))
    }

    private static func questions(of circuit: CircuitState) -> Int {
        switch circuit {
        case .closed: AppStoreTiming.atOnce
        case .open(let next): next <= .zero ? 1 : 0
        }
    }

    private var ledger: PurchaseLedger { questioner.terms().ledger }

    /// The circuits of both interfaces and the clock, as metrics.
    var samples: [MetricSample] {
        let clock = skew.seconds.map { [MetricSample(.clockSkew, $0)] } ?? []
        return clock
            + [ValidationEnvironment.production, .sandbox].flatMap { environment in
                [("verifyReceipt", client.circuit(of: environment)), ("server_api", server.circuit(of: environment))]
                    .map {
                        MetricSample(.openCircuits, [$0.0, environment.rawValue], $0.1 == .closed ? 0 : 1)
                    }
            }
    }

    /// What is asked and told besides claims, over the same connections.
    var tasks: AppStoreTaskService {
        AppStoreTaskService(
            runner: AppStoreTaskRunner(
                server: server, workers: workers, clock: clock, logger: logger, terms: questioner.terms),
            timing: timing)
    }

    /// Records what the App Store Server API answers.
    var evidence: ServerAPIEvidence { ServerAPIEvidence(ledger, workers) }

    /// The settings in force.
    var currentTerms: @Sendable () -> AppStoreTerms { questioner.terms }

    private func log(_ error: any Error) { questioner.log(error) }
}
