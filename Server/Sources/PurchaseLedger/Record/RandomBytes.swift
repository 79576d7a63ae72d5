import Foundation
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
