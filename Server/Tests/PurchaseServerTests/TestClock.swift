import Foundation
import PurchaseVerification
import Synchronization
import TestSupport

/// The ledger's clock, which a test moves. It begins a minute after everything in the minted world was bought.
final class TestClock: Sendable {
    private let milliseconds = Mutex(Int64(MintedWorld.moment.timeIntervalSince1970 + 60) * 1000)

    var now: AppStoreTime { AppStoreTime(millisecondsSince1970: milliseconds.withLock { $0 }) }

    func advance(days: Int64) { milliseconds.withLock { $0 += days * 86_400_000 } }

    func advance(seconds: Int64) { milliseconds.withLock { $0 += seconds * 1000 } }
}

/// Seconds that pass on the command of a test.
final class TestUptime: Sendable {
    private let seconds = Mutex(0.0)

    /// The current time.
    var read: @Sendable () -> Double {
        { self.seconds.withLock { $0 } }
    }

    func advance(seconds more: Double) {
        seconds.withLock { $0 += more }
    }
}

/// A number that several tasks count up.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    @discardableResult
    func increment() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
