import Foundation
import PurchaseLedger
import PurchaseVerification
import Synchronization

/// A clock that a test sets.
final class HistoryClock: Sendable {
    private let time: Mutex<Date>

    init(_ time: Date) { self.time = Mutex(time) }

    var now: Timestamp { Timestamp(time.withLock { $0 }) }

    func show(_ date: Date) { time.withLock { $0 = date } }
}
