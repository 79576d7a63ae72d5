import Foundation

/// The requests per app, environment and operation: as many at once as a second allows, and then as many per second.
struct ServerAPILimits: Sendable {
    /// By app, environment and operation.
    private var buckets: [String: Bucket] = [:]

    private struct Bucket: Sendable {
        /// The requests that may still be sent at once.
        var left: Double
        var date: Date
    }

    /// A tenth in the sandbox.
    private static let sandboxShare = 0.1

    /// Counts a request.
    /// - Parameter factor: multiplies Apple's limits.
    /// - Returns: nil if it may be answered; otherwise when the next one may.
    mutating func refuse(
        _ operation: ServerAPIOperation, of bundleID: String, at environment: StoreEnvironment, factor: Double,
        _ now: Date
    ) -> Date? {
        guard let limit = operation.requestsPerSecond else { return nil }
        let rate = limit * factor * (environment == .sandbox ? Self.sandboxShare : 1)
        let capacity = max(1, rate)
        let key = "\(bundleID)|\(environment.rawValue)|\(operation.rawValue)"
        var bucket = buckets[key] ?? Bucket(left: capacity, date: now)
        bucket.left = min(capacity, bucket.left + max(0, now.timeIntervalSince(bucket.date)) * rate)
        bucket.date = now
        let isRefused = bucket.left < 1
        if !isRefused { bucket.left -= 1 }
        buckets[key] = bucket
        return isRefused ? now.addingTimeInterval((1 - bucket.left) / rate) : nil
    }
}
