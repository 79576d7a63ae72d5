package import PurchaseVerification

package import struct Foundation.UUID

/// Ids of journal entries and orders: 48 bits of time, 74 random bits (UUID version 7, RFC 9562, 5.7). In the order of
/// time they keep the end of their index in the cache; random ids would dirty a page each.
package enum TimeOrderedID {
    package static func next(at time: Timestamp) -> UUID {
        var generator = SystemRandomNumberGenerator()
        let milliseconds = UInt64(clamping: time.millisecondsSince1970)
        let first: UInt64 = generator.next()
        let second: UInt64 = generator.next()
        let high: UInt64 = milliseconds << 16 | 0x7000 | (first & 0x0FFF)
        let low: UInt64 = 0x8000_0000_0000_0000 | (second & 0x3FFF_FFFF_FFFF_FFFF)
        var bytes: [UInt8] = []
        for word in [high, low] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        return UUID(bytes: bytes) ?? UUID()
    }
}
