import PurchaseVerification

package import struct Foundation.UUID
package import typealias Foundation.uuid_t

/// Ids of journal entries and orders: 48 bits of time, 74 random bits (UUID version 7, RFC 9562, 5.7). Because they are
/// ordered by time, only the end of their index needs to be in the cache; each random id would dirty another page.
package enum TimeOrderedID {
    package static func next(at time: Timestamp) -> UUID {
        let milliseconds = UInt64(clamping: time.millisecondsSince1970)
        let (first, second) = RandomBytes.words()
        let high: UInt64 = milliseconds << 16 | 0x7000 | (first & 0x0FFF)
        let low: UInt64 = 0x8000_0000_0000_0000 | (second & 0x3FFF_FFFF_FFFF_FFFF)
        return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
