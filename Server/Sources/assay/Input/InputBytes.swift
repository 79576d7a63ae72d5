import Foundation

/// The bytes of a file that were read and not taken yet. Only what is not taken and a chunk are in memory at a time.
struct InputBytes {
    private static let chunk = 1 << 20

    let source: String
    private(set) var bytes: [UInt8] = []
    /// The position of the first byte that was not taken.
    private(set) var start = 0
    /// The position up to which there is no line end, so that each byte is searched once.
    private var searched = 0
    private(set) var isAtEnd = false
    /// The number of the line at `start`, from 1.
    private(set) var line = 1
    private let handle: FileHandle
    private let size: Int?
    private var bytesRead = 0

    /// Opens a file; `-` is standard input.
    ///
    /// - Throws: `InputError`.
    init(_ source: String) throws {
        self.source = source
        (handle, size) = try InputFile.open(source)
    }

    /// The bytes that were not taken.
    var count: Int { bytes.count - start }

    /// The share of the file that was taken; `nil` if its size is not known.
    var share: Double? {
        guard let size, size > 0 else { return nil }
        return min(1, Double(bytesRead - count) / Double(size))
    }

    /// Reads another chunk, or as much of it as a pipe has. (`FileHandle` would wait for the whole chunk.)
    ///
    /// - Throws: `InputError`.
    mutating func fill() throws {
        if start > 0 {
            bytes.removeFirst(start)
            searched = max(0, searched - start)
            start = 0
        }
        let descriptor = handle.fileDescriptor
        var failure: Int32 = 0
        repeat {
            failure = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
                let result = read(descriptor, buffer.baseAddress, buffer.count)
                if result < 0 { failure = errno }
                count = max(0, result)
            }
            bytes += chunk
            bytesRead += chunk.count
            isAtEnd = chunk.isEmpty && failure == 0
        } while failure == EINTR
        guard failure == 0 else { throw InputError(source, String(cString: strerror(failure))) }
    }

    /// Takes a byte order mark at the start of the bytes.
    mutating func dropByteOrderMark() {
        if bytes[start...].starts(with: [0xEF, 0xBB, 0xBF]) { start += 3 }
    }

    /// Takes the bytes before a position.
    mutating func take(upTo end: Int) {
        line += bytes[start..<end].count { $0 == UInt8(ascii: "\n") }
        start = end
    }

    /// Takes all bytes that were read.
    mutating func takeAll() -> [UInt8] {
        defer { take(upTo: bytes.count) }
        return Array(bytes[start...])
    }

    /// The position after the first line; `nil` if its end was not read.
    var firstLineEnd: Int? { position(of: UInt8(ascii: "\n"), from: start).map { $0 + 1 } }

    /// Takes the first line with its end, or what follows the last one; `nil` if its end was not read.
    mutating func takeLine() -> [UInt8]? {
        guard let end = position(of: UInt8(ascii: "\n"), from: max(start, searched)) else {
            searched = bytes.count
            return isAtEnd && count > 0 ? takeAll() : nil
        }
        defer { (start, line) = (end + 1, line + 1) }
        return Array(bytes[start...end])
    }

    /// The position of a byte. The library's search looks at many bytes at a time.
    func position(of byte: UInt8, from offset: Int) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard offset < buffer.count, let base = buffer.baseAddress,
                let found = memchr(base + offset, Int32(byte), buffer.count - offset)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    /// Skips a line that is longer than a row may be, without keeping it.
    mutating func skipLine() throws {
        while true {
            if let end = firstLineEnd { return take(upTo: end) }
            take(upTo: bytes.count)
            guard !isAtEnd else { return }
            try fill()
        }
    }

    static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    static func isBlank(_ bytes: some Sequence<UInt8>) -> Bool { bytes.allSatisfy(isWhiteSpace) }
}
