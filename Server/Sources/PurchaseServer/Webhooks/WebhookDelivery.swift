import PurchaseLedger
import PurchaseVerification
import Synchronization

/// The deliveries of a webhook under a lease.
struct WebhookDelivery {
    private(set) var lease: WebhookLease
    var window: DeliveryWindow
    /// The results of events that had rows, which are not recorded yet.
    private(set) var outcomes: [LaneOutcome] = []
    /// Whether the receiver answered 410.
    private(set) var isGone = false
    /// Whether to look for new and due events.
    var isTickDue = true {
        // The first event can take long, and until then nothing can be recorded.
        didSet { if isTickDue, isHeldUp { unrecorded.allowMore() } }
    }

    /// Until when attempts may begin.
    let leaseEnd = LeaseEnd()

    private let limits: WebhookLimits
    private var underWay = 0
    private var unrecorded: UnrecordedDeliveries
    private var runsUnderWay = 0
    private var pendingCount: Int
    private var runs: [(lane: WebhookLane, deliveries: [PendingDelivery])] = []
    /// The lanes that are waiting to run, are running, or whose outcome is not recorded.
    private var busyLanes: Set<WebhookLane> = []
    private var wasPageFull = false
    private var failuresInARow = 0
    private var pausedUntil: Timestamp?
    private var recordedAt: Timestamp?
    /// When it was recorded, by a clock that never goes back or jumps.
    private var recordedInstant: ContinuousClock.Instant?

    init(_ lease: WebhookLease, limits: WebhookLimits) {
        self.lease = lease
        self.limits = limits
        window = DeliveryWindow(after: lease.cursor, blocked: lease.waitingCustomers)
        pendingCount = lease.pendingCount
        unrecorded = UnrecordedDeliveries(window: limits.window)
    }

    /// Whether no attempt may begin until the first event has an outcome, because so many others were delivered.
    private var isHeldUp: Bool {
        unrecorded.isFull(with: underWay) && outcomes.isEmpty && !window.isBeginningSettled
    }

    var wantsEvents: Bool {
        guard pendingCount < limits.pending, !isProbing || window.count == 0 else { return false }
        return window.count + limits.page <= limits.window && (wasPageFull || isTickDue)
    }

    var wantsDue: Bool { isTickDue && runs.isEmpty && runsUnderWay < limits.repeated }

    /// Whether enough attempts failed in a row that the receiver may be down. Then new events are attempted first,
    /// because they have not failed before and one success ends the pauses.
    var isProbing: Bool { failuresInARow >= limits.failures }

    mutating func add(_ events: [OutgoingEvent]) {
        wasPageFull = events.count == limits.page
        for event in events { window.add(event) }
    }

    mutating func add(due: [(lane: WebhookLane, deliveries: [PendingDelivery])]) {
        for run in due where busyLanes.insert(run.lane).inserted { runs.append(run) }
    }

    /// Whether another attempt may begin: within the limit, and before the lease ends.
    func mayLaunch(at now: Timestamp) -> Bool {
        underWay < limits.concurrency && !unrecorded.isFull(with: underWay) && leaseEnd.allowsAttempt(at: now)
            && (pausedUntil.map { $0 <= now && underWay == 0 } ?? true)
    }

    mutating func takeRun() -> (lane: WebhookLane, deliveries: [PendingDelivery])? {
        guard runsUnderWay < limits.repeated, !runs.isEmpty else { return nil }
        underWay += 1
        runsUnderWay += 1
        return runs.removeFirst()
    }

    mutating func takeNext() -> (position: Int, event: OutgoingEvent)? {
        guard let next = window.takeNext() else { return nil }
        underWay += 1
        return next
    }

    mutating func finish(_ position: Int, _ attempt: WebhookAttempt, next: Timestamp?) {
        underWay -= 1
        switch attempt.result {
        case .delivered:
            succeeded()
            unrecorded.add(1)
            window.deliver(position)
        case .cancelled: break
        case .failed(let failure):
            failed(failure, at: attempt.startedAt)
            let event = window.event(position)
            window.fail(
                position,
                UndeliveredEvent(
                    event, .retry, attempts: 1, firstAt: attempt.startedAt, nextAt: next, lastError: "\(failure)"))
        }
    }

    mutating func finish(_ outcome: LaneOutcome) {
        underWay -= 1
        runsUnderWay -= 1
        guard !outcome.delivered.isEmpty || !outcome.undelivered.isEmpty else {
            // No attempt of it ended, so its event is still due.
            busyLanes.remove(outcome.lane)
            return
        }
        outcomes.append(outcome)
        unrecorded.add(outcome.delivered.count)
        if !outcome.delivered.isEmpty { succeeded() }
    }

    /// Notes the failure that ended a run of events.
    mutating func failed(_ failure: WebhookFailure, at time: Timestamp) {
        if failure.code == .gone { isGone = true }
        failuresInARow += 1
        guard isProbing else { return }
        let doublings = min(failuresInARow - limits.failures, 6)
        let pause = min(limits.longestPause, 1000 << Int64(doublings))
        pausedUntil = Timestamp(millisecondsSince1970: time.millisecondsSince1970 + pause)
    }

    private mutating func succeeded() {
        failuresInARow = 0
        pausedUntil = nil
    }

    /// Whether there are results to record, or the lease must be prolonged.
    func wantsRecord(at now: Timestamp) -> Bool {
        guard let recordedAt, let recordedInstant else { return true }
        let age = ContinuousClock.now - recordedInstant
        let renewal = limits.renewal
        if now.millisecondsSince1970 - recordedAt.millisecondsSince1970 >= renewal || age >= .milliseconds(renewal) {
            return true
        }
        return (age >= .milliseconds(limits.recordInterval) || unrecorded.isRecordDue)
            && (!outcomes.isEmpty || window.isBeginningSettled)
    }

    mutating func recorded(
        _ lease: WebhookLease, settled: (count: Int, cursor: Int64, undelivered: [UndeliveredEvent])?,
        free: Set<Int64>, at now: Timestamp
    ) {
        self.lease = lease
        (recordedAt, recordedInstant) = (now, .now)
        leaseEnd.move(prolongedAt: now)
        if let settled {
            pendingCount += settled.undelivered.count
            window.removeFirst(settled.count)
        }
        unrecorded.recorded(remaining: window.delivered, hadOutcomes: settled != nil || !outcomes.isEmpty)
        for outcome in outcomes {
            pendingCount -= outcome.delivered.count + outcome.undelivered.count { $0.state == .dead }
            busyLanes.remove(outcome.lane)
        }
        outcomes = []
        for customer in free { window.unblock(customer) }
    }
}

/// The time until which attempts may begin under a lease. It is updated each time the lease is prolonged, and read
/// before each attempt.
final class LeaseEnd: Sendable {
    /// The time before the end of a lease in which no attempt begins, in milliseconds: the longest attempt, and the
    /// difference between the clocks of two servers.
    private static let reserve: Int64 = 25_000

    /// `nil` until the lease was prolonged once.
    private let latest = Mutex<Timestamp?>(nil)

    /// Whether an attempt may begin.
    func allowsAttempt(at now: Timestamp) -> Bool { latest.withLock { $0.map { now < $0 } ?? false } }

    /// The lease was prolonged at a time.
    func move(prolongedAt time: Timestamp) {
        let milliseconds = time.millisecondsSince1970 + WebhookLease.lifetime - Self.reserve
        latest.withLock { $0 = Timestamp(millisecondsSince1970: milliseconds) }
    }
}
