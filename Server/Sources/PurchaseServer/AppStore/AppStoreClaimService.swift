import AppStoreConnection
import Foundation
import Logging
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle
import Synchronization

/// Asks the App Store about claims of requests, at once, and about those that `WorkService` leased.
///
/// A claim is asked about by one server at a time (`WorkKind.lease`); the server that records the App Store's answer
/// first decides it.
final class AppStoreClaimService: Service {
    private let client: any ReceiptValidation
    /// The App Store Server API, for claims and for everything else that is asked of it.
    let access: AppStoreAccess
    /// This machine's clock against the App Store's.
    let skew: ClockSkew
    private let endClient: @Sendable () async throws -> Void
    let questioner: ClaimQuestioner
    let timing: AppStoreTiming
    private let workers: WorkerPool
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let changes: AsyncStream<(ValidationEnvironment, CircuitBreaker.Change)>
    private let state = Mutex(State())

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
        self.client = receipts
        access = AppStoreAccess(calls, AppStoreTerms(ledger, configuration))
        endClient = {
            try await client.shutdown()
            try await server.shutdown()
        }
        self.changes = changes
        self.timing = timing ?? configuration.appStore.timing
        self.clock = clock
        self.logger = logger
        workers = WorkerPool(limit: configuration.limits.waitingVerifications)
        questioner = ClaimQuestioner(
            client: receipts, access: access, timing: self.timing, workers: workers, clock: clock, logger: logger)
    }

    // MARK: Requests

    /// Begins to ask about a claim whose work this server has leased.
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

    /// Follows the circuits until the server stops. Questions in progress are then ended, and asked again at the next
    /// start.
    func run() async throws {
        await cancelWhenGracefulShutdown { await self.followCircuits() }
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
                    try await ledger.perform(RetryWorkNow(.claim))
                } catch {
                    // They are due at their own times.
                    log(error)
                }
            }
        }
    }

    /// How many further claims may be asked about now.
    var room: Int { min(allowed, AppStoreTiming.atOnce - state.withLock { $0.questions.count }) }

    /// Whether the App Store answers, as far as is known.
    var isAnswering: Bool { allowed == AppStoreTiming.atOnce }

    /// One claim is the probe of an open circuit; the others rest, instead of being refused one by one. The two
    /// interfaces of the App Store have a circuit each; apps without keys use only one.
    private var allowed: Int {
        let receipts = Self.questions(of: client.circuit(of: .production))
        guard !access.terms.serverApps.isEmpty else { return receipts }
        return max(receipts, Self.questions(of: access.server.circuit(of: .production)))
    }

    private static func questions(of circuit: CircuitState) -> Int {
        switch circuit {
        case .closed: AppStoreTiming.atOnce
        case .open(let next): next <= .zero ? 1 : 0
        }
    }

    private var ledger: PurchaseLedger { access.terms.ledger }

    /// The circuits of both interfaces and the clock, as metrics.
    var samples: [MetricSample] {
        let clock = skew.seconds.map { [MetricSample(.clockSkew, $0)] } ?? []
        return clock
            + [ValidationEnvironment.production, .sandbox].flatMap { environment in
                [
                    ("verifyReceipt", client.circuit(of: environment)),
                    ("server_api", access.server.circuit(of: environment)),
                ]
                .map {
                    MetricSample(.openCircuits, [$0.0, environment.rawValue], $0.1 == .closed ? 0 : 1)
                }
            }
    }

    /// All work with the App Store, over the same connections.
    var work: WorkService {
        WorkService(
            claims: self, runner: WorkRunner(access: access, workers: workers, clock: clock, logger: logger),
            clock: clock, logger: logger)
    }

    /// Records what the App Store Server API answers.
    var evidence: ServerAPIEvidence { ServerAPIEvidence(ledger, workers) }

    private func log(_ error: any Error) { questioner.log(error) }
}
