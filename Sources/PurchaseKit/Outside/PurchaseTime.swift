public import Foundation

/// The clock, and waiting.
public protocol PurchaseTime: Sendable {
    /// The time of the device, which its owner can set.
    var now: Date { get }
    /// Seconds since any moment, never going back.
    var uptime: Double { get }
    func sleep(seconds: Double) async throws
}
