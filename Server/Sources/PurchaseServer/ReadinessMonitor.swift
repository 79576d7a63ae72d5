import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
package import PurchaseLedger
import ServiceLifecycle
import Synchronization

/// Whether the server can work, as one task found it a moment ago. `/readyz` reads it without waiting for anything.
package final class ReadinessMonitor: Service {
    /// The time between two checks. A check writes about as much as a small purchase does.
    package static let interval = Duration.seconds(1)
    /// The age at which a result no longer counts: a check that takes so long means that the database does not answer.
    package static let longestAge = Duration.seconds(5)
    /// The time that the start of the server waits for the first result.
    private static let firstWait = Duration.seconds(2)

    private let check: @Sendable () async throws -> Void
    private let now: @Sendable () -> ContinuousClock.Instant
    private let latest = Mutex<(state: State, time: ContinuousClock.Instant)?>(nil)

    /// What a check found.
    package enum State: Sendable, Equatable {
        case ready
        /// Reads or writes fail.
        case failed(LedgerStorageError.Kind)
        /// No check has ended for too long.
        case unknown
    }

    /// - Parameters:
    ///   - check: throws if the server cannot work.
    ///   - now: the time, which never goes back.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        check: @escaping @Sendable () async throws -> Void
    ) {
        self.check = check
        self.now = now
    }

    /// A monitor of a ledger.
    convenience init(_ ledger: PurchaseLedger) {
        self.init { try await ledger.perform(ProbeReadiness()) }
    }

    /// The state now.
    package var state: State {
        guard let latest = latest.withLock({ $0 }), now() - latest.time < Self.longestAge else { return .unknown }
        return latest.state
    }

    /// Checks once.
    package func refresh() async {
        var state = State.ready
        do {
            try await check()
        } catch let error as LedgerStorageError {
            state = .failed(error.kind)
        } catch {
            state = .failed(.other)
        }
        let found = (state, now())
        latest.withLock { $0 = found }
    }

    package func run() async throws {
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

    /// Waits for the first result, so that a server is ready from its first request on, but no longer than a moment:
    /// the database may be away.
    func waitForFirst() async {
        let deadline = now() + Self.firstWait
        while latest.withLock({ $0 == nil }), now() < deadline {
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                return
            }
        }
    }
}

/// Asks the server that listens where the settings say for its readiness (`GET /readyz`).
package struct ReadinessQuestion: Sendable {
    private let address: String
    private let isSecure: Bool

    /// How long the answer is waited for.
    private static let limit = TimeAmount.seconds(5)

    package init(_ configuration: ServerConfiguration) {
        let wildcards = ["0.0.0.0": "127.0.0.1", "::": "::1"]
        let host = wildcards[configuration.host] ?? configuration.host
        isSecure = configuration.tls != nil
        let place = "\(host.contains(":") ? "[\(host)]" : host):\(configuration.port)"
        address = "\(isSecure ? "https" : "http")://\(place)/readyz"
    }

    /// What a server says about itself.
    package struct Answer: Sendable {
        /// `ready`, the code of the reason why the server is not, or why nothing is known as a sentence.
        package var status: String
        /// The requests of today that a limit refused, by code.
        package var limitedToday: [String: Int] = [:]
        /// The seconds by which its clock is ahead of the App Store's; `nil` before Apple's first answer.
        package var clockSkew: Double?
    }

    package func answer() async -> Answer {
        do {
            let body = try await body()
            let json = try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any]
            return Answer(
                status: json?["status"] as? String ?? json?["code"] as? String ?? "it does not answer as Assay does",
                limitedToday: json?["limited_today"] as? [String: Int] ?? [:],
                clockSkew: (json?["app_store_clock_skew_seconds"] as? NSNumber)?.doubleValue)
        } catch {
            return Answer(status: "it does not answer as Assay does (\(error))")
        }
    }

    /// The certificate is for the server's name, and this asks by an address: nothing secret is sent, so it is not
    /// checked.
    private func body() async throws -> ByteBuffer {
        var configuration = HTTPClient.Configuration()
        if isSecure {
            configuration.tlsConfiguration = .makeClientConfiguration()
            configuration.tlsConfiguration?.certificateVerification = .none
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let response = try await client.execute(HTTPClientRequest(url: address), timeout: Self.limit)
            let body = try await response.body.collect(upTo: 1 << 16)
            try await client.shutdown()
            return body
        } catch {
            try await client.shutdown()
            throw error
        }
    }
}
