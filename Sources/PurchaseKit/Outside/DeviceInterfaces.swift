public import Foundation
public import PurchaseVerification

/// The life of the app in its system: the moments that bring news, and time to end work in the background.
public protocol AppLife: Sendable {
    /// Each time that the app comes to the foreground, or the network returns.
    func moments() -> AsyncStream<AppMoment>

    /// Asks the system not to suspend the app until `end` is called: `UIApplication.beginBackgroundTask` around a
    /// claim.
    ///
    /// - Returns: ends the request; it is called once.
    func beginWork(_ name: String) async -> @Sendable () async -> Void
}

/// A moment at which newer facts may be available.
public enum AppMoment: Sendable, Equatable {
    case foreground
    case network
}

/// No news from the system, for programs without a user interface, which call `refreshEntitlements()`.
public struct NoAppLife: AppLife {
    public init() {}
    public func moments() -> AsyncStream<AppMoment> { AsyncStream { $0.finish() } }
    public func beginWork(_: String) async -> @Sendable () async -> Void { {} }
}

/// The identifiers of this device that the App Store puts into its evidence.
public protocol DeviceIdentity: Sendable {
    /// The identifiers that an app receipt may be made for, the likeliest first: `identifierForVendor` on iOS; the
    /// network addresses of the built-in interfaces on the Mac, `en0` and `en1` first. The receipt must fit one of
    /// them. Empty if the system names none now, as before the first unlock.
    func receiptIdentifiers() async -> [DeviceIdentifier]

    /// `AppStore.deviceVerificationID`, which signed transactions are made for; `nil` if the system names none now.
    func deviceVerificationID() async -> DeviceIdentifier?
}

public protocol ReceiptSource: Sendable {
    /// The receipt; `nil` if there is none, as in the sandbox before the first purchase.
    func load() async throws -> [UInt8]?

    /// Asks the App Store for a new receipt. The system may ask the customer for their password.
    ///
    /// - Throws: the refresh's own error, such as a cancelled password prompt.
    func refresh() async throws
}

/// A source without a receipt, for apps whose transactions all have a signed transaction of StoreKit 2.
public struct NoReceiptSource: ReceiptSource {
    public init() {}
    public func load() async throws -> [UInt8]? { nil }
    public func refresh() async throws { throw PurchaseError(.receiptMissing) }
}

extension AsyncStream where Element: Sendable {
    /// A stream of what a task yields, which ends with it.
    package init(
        _ policy: Continuation.BufferingPolicy = .unbounded,
        task: @escaping @Sendable (Continuation) async -> Void
    ) {
        self.init(bufferingPolicy: policy) { continuation in
            let task = Task {
                await task(continuation)
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

package enum TimeLimit {
    /// What the system or a server answers; `nil` if it answers late, never, or with an error.
    package static func value<Value: Sendable>(
        within seconds: Double, of read: @escaping @Sendable () async throws -> Value
    ) async -> Value? {
        let (answers, answer) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let reading = Task {
            if let value = try? await read() { answer.yield(value) }
            answer.finish()
        }
        // A task group would wait for a system that does not answer.
        let waiting = Task {
            try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
            answer.finish()
        }
        defer {
            reading.cancel()
            waiting.cancel()
        }
        return await answers.first { _ in true }
    }
}

public protocol PurchaseTime: Sendable {
    /// The time of the device, which its owner can set.
    var now: Date { get }
    /// Seconds since any moment, never going back.
    var uptime: Double { get }
    func sleep(seconds: Double) async throws
}

public struct SystemPurchaseTime: PurchaseTime {
    public init() {}
    public var now: Date { Date() }
    public var uptime: Double { ProcessInfo.processInfo.systemUptime }
    public func sleep(seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(max(0, min(seconds, 86_400)) * 1_000_000_000))
    }
}
