import AppStoreConnection
import Foundation
import Logging
import PurchaseLedger
import PurchaseVerification

/// Does one piece of work with the App Store Server API, and records its result or the time of the next attempt.
struct WorkRunner: Sendable {
    let access: AppStoreAccess
    let workers: WorkerPool
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    /// What is left of the work.
    private enum Rest {
        case nothing
        /// It continues after these milliseconds.
        case next(Int64)
        /// The operation that recorded the outcome noted it.
        case noted
    }

    func run(_ task: LedgerWork) async {
        var task = task
        let (ledger, now) = (access.terms.ledger, clock())
        do {
            let rest = try await work(&task)
            task.attempts = 0
            switch rest {
            case .nothing: try await ledger.perform(NoteWork(task, next: nil))
            case .next(let pause):
                try await ledger.perform(NoteWork(task, next: clock().adding(milliseconds: pause, times: 1)))
            case .noted: break
            }
        } catch let error as AppStoreServerError {
            await postpone(&task, error, now, ledger)
        } catch {
            // A database error: the lease ends by itself.
            logger.error(
                "work with the App Store Server API failed", metadata: facts(task, ["error": "\(error)"]))
        }
    }

    private func postpone(
        _ task: inout LedgerWork, _ error: AppStoreServerError, _ now: Timestamp, _ ledger: PurchaseLedger
    ) async {
        if error.code != .cancelled, error.code != .circuitOpen, error.code != .busy { task.attempts += 1 }
        let next = error.code == .cancelled ? now : AppStoreTiming.next(after: task, error.retryAfter, at: now)
        logger.info(
            "the App Store Server API gave no answer",
            metadata: facts(task, ["code": "\(error.code.rawValue)", "seen": "\(error)", "next": "\(next)"]))
        do {
            try await ledger.perform(NoteWork(task, next: next))
        } catch {
            logger.error(
                "work with the App Store Server API failed", metadata: facts(task, ["error": "\(error)"]))
        }
    }

    private func work(_ task: inout LedgerWork) async throws -> Rest {
        switch task.kind {
        case .refund:
            try await RefundAnswers(access: access, clock: clock, logger: logger).answer(task)
            return .noted
        case .extension:
            _ = try await ExtensionRequests(access: access, clock: clock, logger: logger).ask(task)
            return .noted
        default: break
        }
        guard let environment = ValidationEnvironment(task.environment) else { return .nothing }
        switch task.kind {
        // `AppStoreClaimService` asks about claims.
        case .claim, .refund, .extension: return .noted
        case .externalPurchase:
            guard let pause = try await ExternalReports(access: access, clock: clock).report(&task, environment)
            else { return .noted }
            return .next(pause)
        case .notifications: return try await backfill(&task, environment)
        case .status: return try await askStatus(task, environment)
        case .token: return try await setToken(task, environment)
        case .history: return try await readHistory(&task, environment)
        }
    }

    // MARK: Notifications

    private func backfill(_ task: inout LedgerWork, _ environment: ValidationEnvironment) async throws -> Rest {
        guard let app = access.terms.serverApps[task.subject] else { return .nothing }
        var (backfill, restarts, new) = (NotificationBackfill(task.progress), 0, 0)
        backfill.begin(at: clock().millisecondsSince1970, environment)
        var (reader, isRead) = (reader(of: backfill, app, environment), false)
        for _ in 0..<NotificationBackfill.pagesPerTurn {
            let page: NotificationHistoryPage?
            do throws(AppStoreServerError) {
                page = try await reader.next()
            } catch  where error.number == .startDateTooFarInPast && backfill.isShortened() {
                // Apple's clock is ahead of ours.
                reader = self.reader(of: backfill, app, environment)
                continue
            } catch  where error.isEndless {
                // What came later is not kept waiting. The window is read again each day.
                logger.error("a list of the App Store has no end", metadata: facts(task, ["seen": "\(error)"]))
                (page, backfill.isUndecided) = (nil, true)
            } catch {
                // The window is read again from its beginning; what is known already changes nothing.
                guard backfill.token != nil, restarts < 3,
                    error.number == .paginationTokenExpired || error.number == .invalidPaginationToken
                else { throw error }
                backfill.beginWindowAgain()
                (reader, restarts) = (self.reader(of: backfill, app, environment), restarts + 1)
                continue
            }
            let evidence = ServerAPIEvidence(access.terms.ledger, workers)
            for sent in page?.notifications ?? [] {
                switch try await evidence.receive(sent, app: task.app) {
                case .new: new += 1
                case .undecided: backfill.isUndecided = true
                case .known, .refused: break
                }
            }
            (backfill.token, backfill.pages) = (page?.next, reader.count)
            if page?.next == nil {
                isRead = backfill.endWindow()
                if isRead { break }
                reader = self.reader(of: backfill, app, environment)
            }
            task.progress = backfill.progress
            try await access.terms.ledger.perform(NoteWork(task, next: clock(), isHeld: true))
        }
        if new > 0 {
            logger.notice(
                "notifications that had not arrived were read from the App Store",
                metadata: facts(task, ["new": .stringConvertible(new)]))
        }
        task.progress = backfill.progress
        return .next(isRead ? NotificationBackfill.interval : 0)
    }

    /// Reads the window of a backfill from where it stands.
    private func reader(
        of backfill: NotificationBackfill, _ app: AppStoreServerApp, _ environment: ValidationEnvironment
    ) -> PageReader<GetNotificationHistory> {
        let operation = GetNotificationHistory(backfill.window, paginationToken: backfill.token)
        return PageReader(operation, access.server, for: app, in: environment, after: backfill.pages ?? 0)
    }

    // MARK: One subscription or purchase

    private func askStatus(_ task: LedgerWork, _ environment: ValidationEnvironment) async throws -> Rest {
        let ledger = access.terms.ledger
        guard try await ledger.answer(SubscriptionNeedsStatus(task.subject, in: task.environment)),
            let app = try await app(of: task)
        else { return .nothing }
        do throws(AppStoreServerError) {
            let statuses = try await access.server.call(
                GetSubscriptionStatuses(task.subject), for: app, in: environment)
            try statuses.value.requireOne(environment)
            try await observe(statuses.value, app: task.app)
        } catch {
            guard error.isFinal else { throw error }
            logger.warning(
                "the App Store refuses to tell the status of a subscription",
                metadata: facts(task, ["seen": "\(error)"]))
        }
        return .nothing
    }

    private func observe(_ statuses: SubscriptionStatuses, app: String) async throws(AppStoreServerError) {
        do {
            try await ServerAPIEvidence(access.terms.ledger, workers).observe(statuses.signedTexts, app: app)
        } catch {
            throw AppStoreServerError(.busy, .production, seen: "the answer could not be recorded: \(error)")
        }
    }

    private func setToken(_ task: LedgerWork, _ environment: ValidationEnvironment) async throws -> Rest {
        let ledger = access.terms.ledger
        let query = TokenForApple(app: task.app, task.subject, in: task.environment)
        guard let wanted = try await ledger.answer(query), let app = try await app(of: task) else { return .nothing }
        var token = wanted.token
        if token == nil {
            let new = UUID()
            _ = try await ledger.perform(AssignToken(app: task.app, customerID: wanted.customerID, token: new))
            token = new
        }
        guard let token else { return .nothing }
        do throws(AppStoreServerError) {
            let body = ["appAccountToken": token.uuidString.lowercased()]
            _ = try await access.server.call(
                UnsignedOperation(.setAppAccountToken, task.subject, json: body), for: app, in: environment)
        } catch {
            guard error.isFinal else { throw error }
            logger.warning("the App Store refuses an account token", metadata: facts(task, ["seen": "\(error)"]))
            return .nothing
        }
        try await ledger.perform(
            RecordTokenAtApple(
                app: task.app, task.subject, in: task.environment, customerID: wanted.customerID, token: token))
        return .nothing
    }

    private func readHistory(_ task: inout LedgerWork, _ environment: ValidationEnvironment) async throws -> Rest {
        guard let app = try await app(of: task) else { return .nothing }
        let reading = HistoryReading(server: access.server, ledger: access.terms.ledger, workers: workers)
        _ = try await reading.read(&task, for: app, in: environment)
        return .nothing
    }

    /// The app of a purchase, with its keys.
    private func app(of task: LedgerWork) async throws -> AppStoreServerApp? {
        let terms = access.terms
        let bundleID = try await terms.ledger.answer(BundleOfOriginal(task.subject, in: task.environment))
        return (bundleID ?? terms.bundleIDs[task.app]?.first).flatMap { terms.serverApps[$0] }
    }

    private func facts(_ task: LedgerWork, _ more: Logger.Metadata) -> Logger.Metadata {
        var facts: Logger.Metadata = [
            "work": "\(task.kind.rawValue)", "app": "\(task.app)", "environment": "\(task.environment.name)",
            "subject": "\(task.subject)",
        ]
        facts.merge(more) { _, new in new }
        return facts
    }
}

extension SubscriptionStatuses {
    /// Refuses an empty answer about a subscription that Apple sold: nothing in it is signed.
    func requireOne(_ environment: ValidationEnvironment) throws(AppStoreServerError) {
        guard subscriptions.isEmpty else { return }
        throw AppStoreServerError(.otherAnswer, environment, seen: "no subscription, although Apple sold one")
    }

    /// Everything that Apple signed in the answer. Renewal info without the end of a grace period that runs, by the
    /// unsigned status, is left out: being newer, it would end the one that a signed status gives.
    package var signedTexts: [String] {
        subscriptions.flatMap { subscription in
            let renewalInfo = subscription.renewalInfo.flatMap { info in
                subscription.status == .billingGracePeriod && info.content.gracePeriodExpiresDate == nil
                    ? nil : info.text
            }
            return [subscription.transaction.text, renewalInfo].compactMap(\.self)
        }
    }
}
