import AsyncHTTPClient
import Foundation
import Logging
import ServiceLifecycle

/// Sends notifications when they are due, several at the same time, and records their attempts.
actor NotificationDispatch: Service {
    private let service: StoreService
    private let sender: NotificationSender
    private let target: EvidenceTarget
    private let logger: Logger
    /// Whether the server that gets notifications has an address. The one of an earlier run may be another server's.
    private var isAddressKnown: Bool
    /// Wakes the loop at the next due time.
    private var timer: Task<Void, Never>?
    /// Attempts that are not recorded yet.
    private var made: [(key: String, attempt: SendAttempt)] = []
    private var isRecording = false

    /// The number of notifications that are sent at the same time.
    static let parallelSends = 16

    init(service: StoreService, sender: NotificationSender, target: EvidenceTarget, logger: Logger) {
        (self.service, self.sender, self.target, self.logger) = (service, sender, target, logger)
        isAddressKnown = !target.takesNotifications
    }

    /// Sends until the simulator is shut down.
    func run() async throws {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        wake.yield()
        let (service, target) = (service, target)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: sender.configuration)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for await _ in service.notices { wake.yield() }
                }
                group.addTask {
                    for await url in target.notificationURLs {
                        await self.name(url)
                        wake.yield()
                    }
                }
                for await _ in wakes {
                    for notification in await self.takeDue() {
                        group.addTask {
                            await self.send(notification, with: client)
                            wake.yield()
                        }
                    }
                    await self.wakeLater(wake)
                }
                group.cancelAll()
            }
        }
        timer?.cancel()
        try await client.shutdown()
    }

    private func name(_ url: String) async {
        do {
            try await service.setNotificationURL(url)
            isAddressKnown = true
        } catch {
            logger.error("the address for notifications was not set", metadata: ["url": "\(url)", "error": "\(error)"])
        }
    }

    private func takeDue() async -> [OutgoingNotification] {
        guard isAddressKnown else { return [] }
        do {
            let sent = await service.sentCount
            return try await service.takeDueNotifications(limit: Self.parallelSends - sent)
        } catch {
            logger.error("notifications were not taken", metadata: ["error": "\(error)"])
            return []
        }
    }

    /// Wakes the loop when the next notification is due.
    private func wakeLater(_ wake: AsyncStream<Void>.Continuation) async {
        timer?.cancel()
        guard let pause = await service.untilDue(), pause > .zero else { return }
        timer = Task {
            do {
                try await Task.sleep(for: min(pause, .seconds(60)))
                wake.yield()
            } catch {
                // Another timer takes its place.
            }
        }
    }

    private func send(_ notification: OutgoingNotification, with client: HTTPClient) async {
        let attempt = await sender.send(notification, with: client)
        // An attempt that the shutdown interrupts is made again after the next start.
        guard attempt.result == .success || !Task.isCancelled else { return }
        made.append((notification.key, attempt))
        // Attempts that end while others are written are written together.
        guard !isRecording else { return }
        isRecording = true
        while !made.isEmpty {
            let attempts = made
            made = []
            do {
                try await service.record(attempts)
            } catch {
                logger.error("attempts were not recorded", metadata: ["error": "\(error)"])
            }
        }
        isRecording = false
    }

    /// Waits until every notification that is due has been sent.
    /// - Returns: whether that happened within the limit.
    func deliver(within limit: Duration) async throws -> Bool {
        let end = ContinuousClock.now + limit
        while !(await service.isDelivered) {
            guard ContinuousClock.now < end else { return false }
            try await Task.sleep(for: .milliseconds(5))
        }
        return true
    }
}
