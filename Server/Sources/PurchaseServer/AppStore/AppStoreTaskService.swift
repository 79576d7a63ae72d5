import AppStoreConnection
import Logging
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle
import Synchronization

/// Does what is due with the App Store Server API: the hourly backfill of notifications, statuses of subscriptions
/// without news, and account tokens.
///
/// Each piece is done by one server at a time (`LeaseAppStoreTasks.lease`), and waits in the database over restarts.
final class AppStoreTaskService: Service {
    private let runner: AppStoreTaskRunner
    private let timing: AppStoreTiming
    private let running = Mutex(0)

    /// The work that a server does at the same time. Claims of requests have connections of their own.
    private static let atOnce = 8

    init(runner: AppStoreTaskRunner, timing: AppStoreTiming) {
        (self.runner, self.timing) = (runner, timing)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                var isSeeded: Set<String> = []
                while !Task.isCancelled {
                    do {
                        try await seed(&isSeeded)
                        for task in try await lease() {
                            running.withLock { $0 += 1 }
                            group.addTask {
                                await self.runner.run(task)
                                self.running.withLock { $0 -= 1 }
                            }
                        }
                    } catch {
                        if !(error is CancellationError) {
                            runner.logger.error(
                                "work with the App Store Server API failed", metadata: ["error": "\(error)"])
                        }
                    }
                    do { try await Task.sleep(for: timing.looksEvery) } catch { return }
                }
            }
        }
    }

    /// Begins the backfill of each app that has a key, at once after a start.
    private func seed(_ known: inout Set<String>) async throws {
        let terms = runner.terms()
        for (app, bundleIDs) in terms.bundleIDs.sorted(by: { $0.key < $1.key }) {
            for bundleID in bundleIDs {
                for environment in terms.environments[app] ?? []
                where known.insert("\(environment.rawValue) \(bundleID)").inserted {
                    try await terms.ledger.perform(
                        ScheduleAppStoreTask(
                            .notifications, app: app, environment: AppStoreEnvironment(environment.rawValue),
                            subject: bundleID, isMoved: true))
                }
            }
        }
    }

    private func lease() async throws -> [AppStoreTask] {
        let terms = runner.terms()
        let free = min(Self.atOnce - running.withLock { $0 }, limitOfCircuit)
        guard free > 0, !terms.bundleIDs.isEmpty else { return [] }
        let apps = terms.bundleIDs.keys.sorted()
        let due = DueAppStoreTasks(AppStoreTaskKind.allCases, apps: apps, limit: 1)
        guard try await terms.ledger.answer(due) > 0 else { return [] }
        return try await terms.ledger.perform(
            LeaseAppStoreTasks(AppStoreTaskKind.allCases, apps: apps, limit: free))
    }

    /// One piece of work is the probe of an open circuit; the others rest.
    private var limitOfCircuit: Int {
        switch runner.server.circuit(of: .production) {
        case .closed: Self.atOnce
        case .open(let next): next <= .zero && running.withLock({ $0 }) == 0 ? 1 : 0
        }
    }
}
