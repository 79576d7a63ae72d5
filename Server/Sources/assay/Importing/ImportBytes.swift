import Foundation

/// The bytes of a file that were read and not taken yet. Only a row and a chunk are in memory at a time.
struct ImportBytes {
    /// The largest row in bytes: the largest evidence that the core reads (16 MiB) and room for the other fields. The
    /// largest real receipt known has 108 kB.
    static let rowLimit = (16 << 20) + (64 << 10)
    private static let chunk = 1 << 20

    let source: String
    private(set) var bytes: [UInt8] = []
    /// The position of the first byte that was not taken.
    private(set) var start = 0
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

    /// Takes the bytes before a position.
    mutating func take(upTo end: Int) {
        line += bytes[start..<end].count { $0 == UInt8(ascii: "\n") }
        start = end
    }

    /// The position after the first line; `nil` if its end was not read.
    var firstLineEnd: Int? { position(of: UInt8(ascii: "\n"), from: start).map { $0 + 1 } }

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
}
