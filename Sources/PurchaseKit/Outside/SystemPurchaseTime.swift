public import Foundation

/// The system's clock.
public struct SystemPurchaseTime: PurchaseTime {
    public init() {}
    public var now: Date { Date() }
    public var uptime: Double { ProcessInfo.processInfo.systemUptime }
    public func sleep(seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(max(0, min(seconds, 86_400)) * 1_000_000_000))
    }
}
