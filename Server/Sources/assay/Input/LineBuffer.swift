import EvidenceMint
import Foundation

/// Bytes that were read and not yet taken, and where their next line ends. Each byte is looked at once, however the reads and
/// the lines fall.
struct LineBuffer {
    private var bytes: [UInt8] = []
    private var start = 0
    /// How far it is known that no line ends.
    private var searched = 0
    /// The first lines that are not blank, and the offset behind the last line that was looked at for them.
    private var firstLines: [[UInt8]] = []
    private var firstLinesEnd = 0

    var count: Int { bytes.count - start }

    /// Drops a byte order mark, if that is what the bytes begin with.
    mutating func dropByteOrderMark() {
        guard bytes[start...].starts(with: [0xEF, 0xBB, 0xBF]) else { return }
        start += 3
        searched = max(searched, start)
    }

    mutating func append(_ data: Data) {
        // What was taken is let go before more is added.
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: data)
    }

    /// The first two lines that are not blank, without their ends; the last one may be without an end where `isAtEnd`. Asked
    /// again after more was read, it goes on where it ended; so it is asked before anything is taken.
    mutating func firstLines(isAtEnd: Bool) -> [[UInt8]] {
        while firstLines.count < 2, start + firstLinesEnd < bytes.count {
            let position = start + firstLinesEnd
            guard let end = lineEnd(from: position) ?? (isAtEnd ? bytes.count : nil) else { break }
            let line = bytes[position..<end]
            if line.contains(where: { !Self.isWhiteSpace($0) }) { firstLines.append(Array(line)) }
            firstLinesEnd = end + 1 - start
        }
        return firstLines
    }

    /// Takes the first line, without its end; `nil` where it has none yet.
    mutating func takeLine() -> [UInt8]? {
        guard let end = lineEnd(from: max(start, searched)) else {
            searched = bytes.count
            return nil
        }
        let line = Array(bytes[start..<end])
        start = end + 1
        searched = start
        return line
    }

    /// Takes everything.
    mutating func takeAll() -> [UInt8] {
        let all = Array(bytes[start...])
        bytes = []
        (start, searched) = (0, 0)
        return all
    }

    static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// The offset of the next line feed. The library's search looks at many bytes at a time.
    private func lineEnd(from offset: Int) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard offset < buffer.count, let base = buffer.baseAddress,
                let found = memchr(base + offset, Int32(UInt8(ascii: "\n")), buffer.count - offset)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }
}
