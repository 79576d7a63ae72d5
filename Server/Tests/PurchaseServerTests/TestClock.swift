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
