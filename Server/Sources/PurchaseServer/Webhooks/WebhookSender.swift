import Foundation
import Logging
import NIOCore
import PurchaseLedger
package import PurchaseVerification

/// Delivers the events of an app, or its notifications, to one webhook, while this server has its lease.
///
/// A task group holds everything that is under way: attempts, runs of events that waited, and a clock. Its results come
/// back one after the other, so the state needs no lock.
struct WebhookSender: Sendable {
    let webhook: Webhook
    let ledger: PurchaseLedger
    let client: WebhookClient
    /// Distinguishes this server from others.
    let owner: WebhookOwner
    let logger: Logger
    let traces: RecentTraces
    let metrics: ServerMetrics
    let clock: @Sendable () -> Timestamp
    var limits = WebhookLimits()

    private enum Completion: Sendable {
        case attempted(position: Int, WebhookAttempt)
        case ran(LaneOutcome, WebhookAttempt?)
        case tick
    }

    /// Delivers until the task is cancelled.
    func run() async {
        var replacesPredecessor = owner.replacesPredecessor
        while !Task.isCancelled {
            do {
                let lease = try await lease(replacesPredecessor)
                replacesPredecessor = false
                if let lease {
                    logger.info("this server delivers to the webhook", metadata: metadata)
                    try await deliver(lease)
                    continue
                }
            } catch is CancellationError {
                break
            } catch {
                // The database is busy or unavailable; it is tried again.
                logger.warning(
                    "a webhook waits for the database", metadata: metadata.merging(["error": "\(error)"]) { $1 })
            }
            await pause(limits.leaseInterval)
        }
        client.close()
    }

    private var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["app": "\(webhook.app)", "host": "\(webhook.url.host)"]
        if let environment = webhook.forwardedEnvironment { metadata["forwards"] = "\(environment.name)" }
        return metadata
    }

    /// Takes the lease, if it is free.
    ///
    /// - Parameter replacesPredecessor: whether the lease of a process that ended without returning it counts as free.
    private func lease(_ replacesPredecessor: Bool) async throws -> WebhookLease? {
        let (app, stream, url, owner) = (webhook.app, webhook.stream, webhook.url.text, owner.bytes)
        let vacancy = WebhookVacancy(
            app: app, stream, url: url, owner: owner, replacesPredecessor: replacesPredecessor)
        guard let newest = try await ledger.answer(vacancy) else { return nil }
        return try await ledger.perform(
            LeaseWebhook(
                app: app, stream, url: url, owner: owner, beginning: newest, replacesPredecessor: replacesPredecessor))
    }

    /// A pause that cancellation ends.
    private func pause(_ seconds: Double) async {
        do { try await Task.sleep(for: .seconds(seconds)) } catch { return }
    }

    /// Delivers under a lease, until it is lost, an operator changes the webhook, or the task is cancelled.
    private func deliver(_ lease: WebhookLease) async throws {
        var state = WebhookDelivery(lease, limits: limits)
        try await withThrowingTaskGroup(of: Completion.self) { group in
            group.addTask { await tick() }
            do {
                while !Task.isCancelled, let completion = try await group.next() {
                    note(completion, &state)
                    guard !state.isGone else { break }
                    if state.wantsRecord(at: clock()) {
                        guard try await record(&state) else { break }
                    }
                    try await read(&state)
                    launch(&state, &group)
                    if state.isTickDue {
                        state.isTickDue = false
                        group.addTask { await tick() }
                    }
                }
            } catch is CancellationError {
                // A read was interrupted.
            }
            // Attempts that ended meanwhile are recorded, so that they are not sent again; the others are interrupted.
            group.cancelAll()
            while let completion = try await group.next() { note(completion, &state) }
        }
        // A separate task, because recording must not be cancelled.
        let last = state
        try await Task { try await end(last) }.value
        try Task.checkCancellation()
    }

    /// Records the known outcomes, and releases the lease.
    private func end(_ last: WebhookDelivery) async throws {
        var state = last
        guard try await record(&state) else { return }
        if state.isGone {
            _ = try await ledger.perform(
                ChangeWebhook(
                    app: webhook.app, webhook.stream, url: webhook.url.text,
                    .disable(reason: "the receiver answered 410")))
            logger.warning("the receiver answered 410, so the webhook is disabled", metadata: metadata)
        } else {
            try await ledger.perform(ReleaseWebhook(state.lease))
        }
    }

    private func note(_ completion: Completion, _ state: inout WebhookDelivery) {
        switch completion {
        case .attempted(let position, let attempt):
            state.finish(position, attempt, next: RetrySchedule.next(after: 1, now: clock()))
            log(attempt)
        case .ran(let outcome, let attempt):
            state.finish(outcome)
            guard let attempt else { return }
            if case .failed(let failure) = attempt.result { state.failed(failure, at: attempt.startedAt) }
            log(attempt)
        case .tick: state.isTickDue = true
        }
    }

    private func log(_ attempt: WebhookAttempt) {
        guard case .failed(let failure) = attempt.result else { return }
        logger.notice(
            webhook.forwardedEnvironment == nil
                ? "an event was not delivered to a webhook" : "a notification was not forwarded",
            metadata: metadata.merging(["reason": "\(failure)"]) { $1 })
    }

    private func tick() async -> Completion {
        await pause(limits.tick)
        return .tick
    }

    /// Records the known outcomes. Returns false if the lease was lost.
    private func record(_ state: inout WebhookDelivery) async throws -> Bool {
        let settled = state.window.settled
        let lanes = state.outcomes
        var lease = state.lease
        if let settled { lease.cursor = settled.cursor }
        // The lease begins at the latest when the transaction has the time.
        let began = clock()
        let free = try await ledger.perform(
            RecordDeliveries(lease, undelivered: settled?.undelivered ?? [], lanes: lanes))
        guard let free else {
            logger.info("another server or an operator took over the webhook", metadata: metadata)
            return false
        }
        state.recorded(lease, settled: settled, free: free, at: began)
        return true
    }

    /// Reads new events, and those whose next attempt is due.
    private func read(_ state: inout WebhookDelivery) async throws {
        if state.wantsEvents {
            let query = OutgoingEvents(
                app: webhook.app, webhook.stream, after: state.window.last, limit: limits.page)
            let events = try await ledger.answer(query)
            state.add(events)
        }
        if state.wantsDue {
            state.add(
                due: try await ledger.answer(DueDeliveries(app: webhook.app, state.lease, limit: limits.concurrency)))
        }
    }

    private func launch(_ state: inout WebhookDelivery, _ group: inout ThrowingTaskGroup<Completion, any Error>) {
        let (sender, end) = (self, state.leaseEnd)
        while state.mayLaunch(at: clock()) {
            if state.isProbing, let next = state.takeNext() {
                send(next, &group)
            } else if let run = state.takeRun() {
                group.addTask {
                    let (outcome, attempt) = await sender.run(run.lane, run.deliveries, until: end)
                    return .ran(outcome, attempt)
                }
            } else if let next = state.takeNext() {
                send(next, &group)
            } else {
                return
            }
        }
    }

    private func send(
        _ next: (position: Int, event: OutgoingEvent), _ group: inout ThrowingTaskGroup<Completion, any Error>
    ) {
        group.addTask {
            .attempted(position: next.position, await attempt(next.event) { try WebhookMessage(next.event) })
        }
    }

    private func attempt(
        _ event: OutgoingEvent, _ message: @Sendable () throws -> WebhookMessage?
    ) async -> WebhookAttempt {
        let attempt = await send(event, message)
        let result: String
        switch attempt.result {
        case .cancelled: return attempt
        case .delivered: result = "delivered"
        case .failed(let failure): result = failure.code.rawValue
        }
        metrics.noteDelivery(app: webhook.app, host: webhook.url.host, webhook.stream, result: result)
        return attempt
    }

    private func send(
        _ event: OutgoingEvent, _ message: @Sendable () throws -> WebhookMessage?
    ) async -> WebhookAttempt {
        let started = clock()
        do {
            guard var message = try message() else {
                // Its evidence was erased, so there is nothing to deliver.
                return WebhookAttempt(startedAt: started, result: .delivered)
            }
            if case .event(let content) = event.content { message.trace = traces.trace(of: content.entryID) }
            // Receivers compare the signed time with their own clock, also where the ledger follows a simulated one.
            try await client.send(message, at: Int64(Date().timeIntervalSince1970))
            return WebhookAttempt(startedAt: started, result: .delivered)
        } catch let failure as WebhookFailure {
            // A connection that ends because the task was cancelled says nothing about the receiver.
            return WebhookAttempt(startedAt: started, result: Task.isCancelled ? .cancelled : .failed(failure))
        } catch {
            return WebhookAttempt(startedAt: started, result: .cancelled)
        }
    }

    /// Sends the events of a customer that waited, one after the other, until one is not delivered or the lease may
    /// end.
    private func run(
        _ lane: WebhookLane, _ deliveries: [PendingDelivery], until end: LeaseEnd
    ) async -> (LaneOutcome, WebhookAttempt?) {
        var outcome = LaneOutcome(lane: lane)
        var last: WebhookAttempt?
        for delivery in deliveries {
            guard end.allowsAttempt(at: clock()) else { return (outcome, last) }
            let isGap = delivery.state == .gap
            let attempt = await attempt(delivery.event) {
                isGap
                    ? try WebhookMessage(gapOf: delivery.event, at: clock()) : try WebhookMessage(delivery.event)
            }
            last = attempt
            switch attempt.result {
            case .cancelled: return (outcome, last)
            case .delivered where isGap:
                outcome.undelivered.append(delivery.givenUp(nil))
            case .delivered: outcome.delivered.append(delivery.event.key)
            case .failed(let failure):
                outcome.undelivered.append(delivery.failed(failure, startedAt: attempt.startedAt, now: clock()))
                return (outcome, last)
            }
        }
        return (outcome, last)
    }
}

extension PendingDelivery {
    /// - Parameter error: why the last attempt failed; `nil` keeps the stored reason.
    fileprivate func givenUp(_ error: String?) -> UndeliveredEvent {
        UndeliveredEvent(
            event, .dead, attempts: RetrySchedule.attempts, firstAt: firstAt, nextAt: nil, lastError: error)
    }

    /// The next step for it after another failure.
    fileprivate func failed(_ failure: WebhookFailure, startedAt: Timestamp, now: Timestamp) -> UndeliveredEvent {
        let (attempts, text) = (attempts + 1, "\(failure)")
        let next = RetrySchedule.next(after: attempts, now: now)
        switch (state, next) {
        case (.waiting, .some), (.retry, .some):
            return UndeliveredEvent(
                event, .retry, attempts: attempts, firstAt: firstAt ?? startedAt, nextAt: next, lastError: text)
        case (.waiting, nil) where !event.isNotification, (.retry, nil) where !event.isNotification:
            // Given up: the customer's next events follow after a message about the gap, which has as many attempts.
            return UndeliveredEvent(event, .gap, attempts: 0, firstAt: firstAt, nextAt: now, lastError: text)
        case (_, .some):
            return UndeliveredEvent(
                event, state, attempts: attempts, firstAt: firstAt ?? startedAt, nextAt: next, lastError: text)
        case (_, nil): return givenUp(text)
        }
    }
}

/// When an event is attempted again: more and more seldom, over three days.
package enum RetrySchedule {
    /// The pauses after each failed attempt, in seconds: 71.7 hours in all. After another failure the event is given
    /// up.
    package static let pauses: [Double] = [
        5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 28_800, 43_200, 43_200, 86_400,
    ]

    /// The number of attempts before an event is given up.
    package static let attempts = pauses.count + 1

    /// The maximum random change of a pause, as a share of it, so that a recovering receiver does not get all events at
    /// once.
    package static let jitter = 0.2

    /// The time of the next attempt after this number of failed ones; `nil` if there is none.
    package static func next(
        after attempts: Int, now: AppStoreTime, random: Double = Double.random(in: -1...1)
    ) -> AppStoreTime? {
        guard attempts >= 1, attempts <= pauses.count else { return nil }
        let seconds = pauses[attempts - 1] * (1 + jitter * random)
        return AppStoreTime(millisecondsSince1970: now.millisecondsSince1970 + Int64(seconds * 1000))
    }
}

/// An attempt, and its outcome.
struct WebhookAttempt: Sendable {
    let startedAt: Timestamp
    let result: Result

    enum Result: Sendable {
        case delivered
        case failed(WebhookFailure)
        /// The server stops, or lost the lease; the outcome says nothing about the receiver.
        case cancelled
    }
}
