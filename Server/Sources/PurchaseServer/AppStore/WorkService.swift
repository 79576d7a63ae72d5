import AppStoreConnection
import Logging
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle
import Synchronization

import struct Foundation.UUID

/// Does what is due with the App Store: questions about claims that wait, answers to refund requests, extensions, the
/// hourly backfill of notifications, statuses of subscriptions without news, account tokens and histories.
///
/// Each piece is done by one server at a time (`WorkKind.lease`), and waits in the database over restarts.
final class WorkService: Service {
    private let claims: AppStoreClaimService
    private let runner: WorkRunner
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let running = Mutex(0)

    /// The work besides claims that a server does at the same time.
    private static let atOnce = 8
    /// The pause after a look that found more than one piece: usually more are due.
    private static let busyPause = Duration.milliseconds(200)
    /// A question of Apple's has a deadline, so it comes first; tokens can be many, and nobody waits for them.
    private static let kinds: [WorkKind] = [
        .refund, .extension, .status, .history, .notifications, .externalPurchase, .token,
    ]

    init(
        claims: AppStoreClaimService, runner: WorkRunner, clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        (self.claims, self.runner, self.clock, self.logger) = (claims, runner, clock, logger)
    }

    func run() async throws {
        let looksEvery = claims.timing.looksEvery
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                var (isSeeded, adopted): (Set<String>, [String: [String]]?) = ([], nil)
                while !Task.isCancelled {
                    var pause = looksEvery
                    do {
                        // Also when an app gets a key or a bundle id: external purchase tokens wait for it.
                        let bundleIDs = access.terms.bundleIDs
                        if bundleIDs != adopted { try await ledger.perform(AdoptWork()) }
                        adopted = bundleIDs
                        try await seed(&isSeeded)
                    } catch {
                        log(error)
                    }
                    do {
                        for claim in try await overdueClaims() {
                            group.addTask { await self.claims.questioner.giveUp(claim) }
                        }
                        let waiting = try await lease(WorkSelection([.claim], limit: claims.room))
                        for claim in waiting.compactMap(\.entry) { claims.begin(claim) }
                        var count = 0
                        for selection in [\WorkService.otherWork, \.workWithoutKey] {
                            let leased = try await lease(self[keyPath: selection])
                            count += leased.count
                            for work in leased {
                                running.withLock { $0 += 1 }
                                group.addTask {
                                    await self.runner.run(work)
                                    self.running.withLock { $0 -= 1 }
                                }
                            }
                        }
                        if waiting.count > 1 || count > 1 { pause = min(Self.busyPause, looksEvery) }
                    } catch {
                        // After a database error, the service waits as after any other look.
                        log(error)
                    }
                    do { try await Task.sleep(for: pause) } catch { return }
                }
            }
        }
    }

    private func log(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        logger.error("work with the App Store failed", metadata: ["error": "\(error)"])
    }

    private var access: AppStoreAccess { runner.access }
    private var ledger: PurchaseLedger { access.terms.ledger }

    /// Begins the backfill of each app that has a key, at once after a start.
    private func seed(_ known: inout Set<String>) async throws {
        let terms = access.terms
        for (app, bundleIDs) in terms.bundleIDs.sorted(by: { $0.key < $1.key }) {
            for bundleID in bundleIDs {
                for environment in terms.environments[app] ?? []
                where known.insert("\(environment.rawValue) \(bundleID)").inserted {
                    let work = LedgerWork(
                        .notifications, app: app, environment: AppStoreEnvironment(environment.rawValue),
                        subject: bundleID)
                    try await terms.ledger.perform(ScheduleWork(work, isMoved: true))
                }
            }
        }
    }

    /// The claims that waited for the maximum time. While the App Store answers, they are asked about once more.
    private func overdueClaims() async throws -> [UUID] {
        guard !claims.isAnswering else { return [] }
        let since = Timestamp(millisecondsSince1970: clock().millisecondsSince1970 - claims.timing.givesUpAfter)
        return try await lease(WorkSelection([.claim], since: since, limit: AppStoreTiming.atOnce))
            .compactMap(\.entry)
    }

    /// Leases work. Usually nothing is due, which is found out without a write.
    private func lease(_ selection: WorkSelection) async throws -> [LedgerWork] {
        guard selection.limit > 0 else { return [] }
        var first = selection
        first.limit = 1
        guard try await ledger.answer(DueWork(first)) > 0 else { return [] }
        return try await ledger.perform(LeaseWork(selection))
    }

    /// External purchase tokens of apps without keys: nothing is sent, but it is told that they are late.
    private var workWithoutKey: WorkSelection {
        let apps = Set(access.terms.apps.keys).subtracting(access.terms.names).sorted()
        let limit = apps.isEmpty ? 0 : Self.atOnce - running.withLock { $0 }
        return WorkSelection([.externalPurchase], apps: apps, limit: limit)
    }

    /// The work besides claims that may be done now. One piece is the probe of an open circuit; the others rest.
    private var otherWork: WorkSelection {
        let (running, names) = (running.withLock { $0 }, access.terms.names)
        switch access.server.circuit(of: .production) {
        case .closed: return WorkSelection(Self.kinds, apps: names, limit: Self.atOnce - running)
        // Many refund requests wait for their customer, and make no call.
        case .open(let next):
            return WorkSelection(
                Self.kinds.filter { $0 != .refund }, apps: names, limit: next <= .zero && running == 0 ? 1 : 0)
        }
    }
}
