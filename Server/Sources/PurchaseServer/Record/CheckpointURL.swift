import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import PurchaseLedger

/// Sends the latest checkpoint to a URL. It never delays sealing: a checkpoint is accepted at once and sent by a
/// separate task, which tries again until it is delivered or a newer one replaces it.
actor CheckpointURL: CheckpointPublisher {
    /// The time limit of one attempt, and of the last one when the server stops.
    private static let attempt = TimeAmount.seconds(10)
    /// The longest pause between two attempts, in seconds.
    private static let longestPause = 60
    /// The maximum that is read of an answer: only its status matters.
    private static let answerBytes = 1 << 16

    private let url: String
    private let client: HTTPClient
    private let logger: Logger
    private var latest: SignedCheckpoint?
    private var sent: SignedCheckpoint?
    private var worker: Task<Void, Never>?
    private var pause: Task<Void, any Error>?
    private var isEnding = false
    private var failures = 0

    init(_ url: URL, logger: Logger) {
        self.url = url.absoluteString
        var logger = logger
        // A URL can have a password.
        logger[metadataKey: "host"] = "\(url.host() ?? "")"
        self.logger = logger
        // An answer from another address does not count, so redirects are failures.
        let timeout = HTTPClient.Configuration.Timeout(connect: .seconds(5), read: .seconds(5), write: .seconds(5))
        client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: HTTPClient.Configuration(redirectConfiguration: .disallow, timeout: timeout))
    }

    func publish(_ checkpoint: SignedCheckpoint) {
        latest = checkpoint
        guard worker == nil else { return }
        worker = Task { await self.work() }
    }

    /// Makes a last attempt to send an unsent checkpoint, and closes the connection.
    func end() async {
        isEnding = true
        pause?.cancel()
        await worker?.value
        do {
            try await client.shutdown()
        } catch {
            logger.warning("the connection for checkpoints did not close", metadata: ["error": "\(error)"])
        }
    }

    private func work() async {
        while let checkpoint = latest, checkpoint != sent {
            let isLast = isEnding
            if await send(checkpoint) { continue }
            if isLast { break }
            await wait()
        }
        worker = nil
    }

    private func wait() async {
        guard !isEnding else { return }
        let seconds = min(1 << min(failures - 1, 6), Self.longestPause)
        let pause = Task { try await Task.sleep(for: .seconds(seconds)) }
        self.pause = pause
        // A cancelled pause also ends.
        _ = await pause.result
        self.pause = nil
    }

    private func send(_ checkpoint: SignedCheckpoint) async -> Bool {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "text/plain; charset=utf-8")
        request.body = .bytes(ByteBuffer(bytes: checkpoint.note))
        let fault: String
        do {
            let response = try await client.execute(request, timeout: Self.attempt)
            if (200..<300).contains(response.status.code) {
                sent = checkpoint
                if failures > 0 { logger.notice("checkpoints are published again") }
                failures = 0
                // Otherwise the connection could not be used again.
                _ = try? await response.body.collect(upTo: Self.answerBytes)
                return true
            }
            fault = "status \(response.status.code)"
        } catch {
            fault = "\(error)"
        }
        failures += 1
        logger.warning(
            "a checkpoint was not published; it is sent again",
            metadata: [
                "error": "\(fault)", "attempt": .stringConvertible(failures),
                "size": .stringConvertible(checkpoint.checkpoint.size),
            ])
        return false
    }
}
