/// A random change of bytes that ignores their structure.
public enum ByteMutation: String, CaseIterable, Sendable {
    case bitFlip = "bit flip"
    case byteChange = "byte change"
    case deletion
    case insertion
    case swap = "swap of ranges"
    case truncation

    /// The bytes with this change, somewhere within the range, which must not be empty.
    public func applied(
        to bytes: [UInt8], within range: Range<Int>, _ generator: inout SeededGenerator
    ) -> [UInt8] {
        let position = range.lowerBound + generator.below(range.count)
        var result = bytes
        switch self {
        case .bitFlip:
            result[position] ^= 1 << UInt8(generator.below(8))
        case .byteChange:
            result[position] &+= UInt8(1 + generator.below(255))
        case .deletion:
            let count = min(1 + generator.below(8), bytes.count - position)
            result.removeSubrange(position..<(position + count))
        case .insertion:
            let inserted = (0...generator.below(8)).map { _ in UInt8(generator.below(256)) }
            result.insert(contentsOf: inserted, at: position)
        case .swap:
            let other = range.lowerBound + generator.below(range.count)
            let (first, second) = (min(position, other), max(position, other))
            let count = min(1 + generator.below(16), second - first, bytes.count - second)
            for offset in 0..<max(0, count) { result.swapAt(first + offset, second + offset) }
        case .truncation:
            result.removeSubrange(position...)
        }
        return result
    }
}
