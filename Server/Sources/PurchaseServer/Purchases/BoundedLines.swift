/// Divides bytes into lines of a bounded length. Of a longer line only its number is kept.
package struct BoundedLines {
    /// The longest line, in bytes: many times that of an answer with identifiers of the greatest length.
    package static let limit = 16 << 10

    /// A line, without its end.
    package struct Line: Sendable {
        /// From 1.
        package let number: Int
        /// `nil` if it was too long.
        package let bytes: [UInt8]?
    }

    private var bytes: [UInt8] = []
    private var isTooLong = false
    private var number = 1

    package init() {}

    /// The lines that end in further bytes. Empty ones are left out.
    package mutating func append(_ part: some Collection<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = part[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            add(rest[..<end])
            if let line = take() { lines.append(line) }
            rest = rest[rest.index(after: end)...]
        }
        add(rest)
        return lines
    }

    /// The last line, if it has no end.
    package mutating func end() -> Line? { take() }

    private mutating func add(_ part: some Collection<UInt8>) {
        guard !isTooLong else { return }
        if bytes.count + part.count > Self.limit {
            isTooLong = true
            bytes = []
        } else {
            bytes += part
        }
    }

    private mutating func take() -> Line? {
        defer {
            bytes.removeAll(keepingCapacity: true)
            isTooLong = false
            number += 1
        }
        if isTooLong { return Line(number: number, bytes: nil) }
        guard bytes.contains(where: { $0 != 0x20 && !(0x09...0x0D).contains($0) }) else { return nil }
        return Line(number: number, bytes: bytes)
    }
}
