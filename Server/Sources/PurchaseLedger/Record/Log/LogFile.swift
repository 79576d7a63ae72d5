import Foundation

/// An open file of the log, with calls that Foundation lacks: exclusive creation, locks, and flushes to the disk.
final class LogFile: Sendable {
    let path: String
    private let descriptor: Int32

    /// Opens a file with flags for `open(2)`.
    ///
    /// - Throws: `fileExists`, `fileMissing`, `fileFailed`.
    init(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(LogError) {
        self.path = path
        descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            let code: LogError.Code =
                switch errno {
                case EEXIST: .fileExists
                case ENOENT: .fileMissing
                default: .fileFailed
                }
            throw LogError(code, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Creates a file with a mode and content, unless the name exists. The file never exists in part, or with another
    /// mode.
    ///
    /// - Throws: `fileExists`, `fileFailed`.
    static func create(_ path: String, mode: mode_t, _ content: [UInt8]) throws(LogError) {
        let temporary = try written(beside: path, mode: mode, content)
        // `link` refuses an existing name; a rename would replace a file that another process just created.
        let status = link(temporary, path)
        let cause = errno
        unlink(temporary)
        guard status == 0 else {
            let reason = String(cString: strerror(cause))
            throw LogError(cause == EEXIST ? .fileExists : .fileFailed, "\(path) cannot be created: \(reason)")
        }
        try flushFolder(of: path)
    }

    /// Replaces a file atomically: a reader sees the old content or the new.
    ///
    /// - Throws: `fileFailed`.
    static func replace(_ path: String, mode: mode_t, _ content: [UInt8]) throws(LogError) {
        let temporary = try written(beside: path, mode: mode, content)
        guard rename(temporary, path) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(temporary)
            throw LogError(.fileFailed, "\(path) cannot be replaced: \(reason)")
        }
        try flushFolder(of: path)
    }

    /// Reads a file with a secret, which only its owner may be able to read.
    ///
    /// - Throws: `fileMode` if others can read it, `fileMissing`, `fileFailed`, `malformed` if it is larger than the
    ///   limit.
    static func secret(_ path: String, limit: Int) throws(LogError) -> [UInt8] {
        let file = try LogFile(path, O_RDONLY)
        try file.requireSecrecy()
        let length = try file.length()
        guard length <= limit else {
            throw LogError(.malformed, "\(path) has \(length) bytes; a key has at most \(limit)")
        }
        return try file.read(from: 0, count: Int(length))
    }

    /// Checks the mode of the open file, so that nobody can replace the file between check and use.
    func requireSecrecy() throws(LogError) {
        let mode = try status().st_mode
        guard mode & S_IFMT == S_IFREG else { throw LogError(.fileFailed, "\(path) is not a file") }
        guard mode & 0o077 == 0 else {
            let found = String(mode & 0o777, radix: 8)
            throw LogError(.fileMode, "\(path) has mode 0\(found) and must have 0600; run chmod 600, or make a new key")
        }
    }

    /// The length in bytes.
    func length() throws(LogError) -> Int64 { Int64(try status().st_size) }

    /// Reads bytes of the file; fewer if it ends.
    func read(from start: Int64, count: Int) throws(LogError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let result = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(start) + off_t(filled))
            }
            if result == 0 { break }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { throw failure("read") }
            filled += result
        }
        return Array(bytes.prefix(filled))
    }

    /// Writes bytes at the end of the file, or at the current position.
    func write(_ bytes: [UInt8]) throws(LogError) {
        var written = 0
        while written < bytes.count {
            let result = bytes.withUnsafeBytes { buffer in
                Foundation.write(descriptor, buffer.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { throw failure("written") }
            written += result
        }
    }

    /// Truncates the file.
    func truncate(to length: Int64) throws(LogError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure("cut") }
    }

    /// Returns after everything is on the disk.
    func flush() throws(LogError) {
        guard fsync(descriptor) == 0 else { throw failure("flushed") }
    }

    /// Locks the file until it is closed.
    ///
    /// - Returns: `false` if another process, or another open file of this one, has the lock.
    func lock() throws(LogError) -> Bool {
        // A process that is being started has a copy of the descriptor until it runs its program.
        for attempt in 1...Self.lockAttempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK else { throw failure("locked") }
            if attempt < Self.lockAttempts { usleep(10_000) }
        }
        return false
    }

    /// The attempts to lock a file, 10 ms apart: a start of a process takes less.
    private static let lockAttempts = 20

    private func status() throws(LogError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("looked at") }
        return status
    }

    private func failure(_ verb: String) -> LogError {
        LogError(.fileFailed, "\(path) cannot be \(verb): \(String(cString: strerror(errno)))")
    }

    /// Writes and flushes a file with a temporary name.
    private static func written(
        beside path: String, mode: mode_t, _ content: [UInt8]
    ) throws(LogError) -> String {
        let temporary = "\(path).\(UInt64.random(in: .min ... .max)).new"
        let file = try LogFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
        do throws(LogError) {
            // The process's umask may have removed bits from the mode.
            guard fchmod(file.descriptor, mode) == 0 else { throw file.failure("given its mode") }
            try file.write(content)
            try file.flush()
        } catch {
            unlink(temporary)
            throw error
        }
        return temporary
    }

    /// A new name is durable only after its folder is flushed.
    private static func flushFolder(of path: String) throws(LogError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try LogFile(folder.isEmpty ? "/" : folder, O_RDONLY).flush()
    }
}
