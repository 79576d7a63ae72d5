import Foundation
import PurchaseVerification
import Synchronization

/// The time of the ledger while it is filled.
final class FillClock: Sendable {
    private let time: Mutex<Int64>

    init(_ date: Date) { time = Mutex(Self.milliseconds(date)) }

    var now: AppStoreTime { AppStoreTime(millisecondsSince1970: time.withLock { $0 }) }

    func set(_ date: Date) { time.withLock { $0 = Self.milliseconds(date) } }

    private static func milliseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970 * 1000) }
}
