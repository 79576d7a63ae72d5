package import Foundation
import PurchaseVerification
import Synchronization

/// Random bytes of the operating system for ids and salts, fetched 256 at a time: `SystemRandomNumberGenerator` asks
/// the kernel for every eight bytes, and a purchase needs 48.
enum RandomBytes {
    private static let source = Mutex(Source())

    private struct Source {
        var words: [UInt64] = []

        mutating func next() -> UInt64 {
            if words.isEmpty { words = RandomBytes.fresh() }
            return words.removeLast()
        }
    }

    /// 128 random bits.
    static func words() -> (UInt64, UInt64) {
        source.withLock { ($0.next(), $0.next()) }
    }

    /// Sixteen random bytes.
    static func sixteen() -> [UInt8] {
        let words = words()
        return withUnsafeBytes(of: words) { Array($0) }
    }

    /// `getentropy` returns at most 256 bytes. If the kernel refuses, the generator of the standard library is used,
    /// which stops the program if there is no randomness at all.
    private static func fresh() -> [UInt64] {
        var words = [UInt64](repeating: 0, count: 32)
        let result = words.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { getentropy($0, bytes.count) } ?? -1
        }
        if result != 0 {
            var generator = SystemRandomNumberGenerator()
            for index in words.indices { words[index] = generator.next() }
        }
        return words
    }
}

/// Random ids (UUID version 4, RFC 9562, 5.4). Foundation on Linux opens a device file for each.
package enum RandomID {
    package static func next() -> UUID {
        let (high, low) = RandomBytes.words()
        func byte(_ word: UInt64, _ place: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - 8 * place)) }
        return UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
                byte(high, 6) & 0x0F | 0x40, byte(high, 7), byte(low, 0) & 0x3F | 0x80, byte(low, 1), byte(low, 2),
                byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }
}

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
