import EvidenceMint
import Foundation

/// Bytes that were read and not yet taken, and the end of their next line. Each byte is scanned once, however reads and
/// lines are divided.
struct LineBuffer {
    private var bytes: [UInt8] = []
    private var start = 0
    /// The position up to which there is no line end.
    private var searched = 0
    /// The first non-blank lines, and the offset after the last line that was scanned for them.
    private var firstLines: [[UInt8]] = []
    private var firstLinesEnd = 0

    var count: Int { bytes.count - start }

    /// Removes a byte order mark at the start of the bytes.
    mutating func dropByteOrderMark() {
        guard bytes[start...].starts(with: [0xEF, 0xBB, 0xBF]) else { return }
        start += 3
        searched = max(searched, start)
    }

    mutating func append(_ data: Data) {
        // Taken bytes are released before more are added.
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: data)
    }

    /// The first two non-blank lines, without their ends; the last one may have no end if `isAtEnd`. After more was
    /// read, the scan continues where it stopped; so call this before anything is taken.
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

    /// Takes the first line, without its end; `nil` if it has none yet.
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
