public import Foundation

/// The clock, and waiting.
public protocol PurchaseTime: Sendable {
    /// The time of the device, which its owner can set.
    var now: Date { get }
    /// Seconds since any moment, never going back.
    var uptime: Double { get }
    func sleep(seconds: Double) async throws
}

/// The system's clock.
public struct SystemPurchaseTime: PurchaseTime {
    public init() {}
    public var now: Date { Date() }
    public var uptime: Double { ProcessInfo.processInfo.systemUptime }
    public func sleep(seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(max(0, min(seconds, 86_400)) * 1_000_000_000))
    }
}
