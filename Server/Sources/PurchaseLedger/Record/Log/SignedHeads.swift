import Foundation

/// The file beside a signing key that lists the signed trees: one line per head, with size and root. A head is appended
/// and flushed before its checkpoint is published, so a signer never signs two trees of one size, whatever happens to
/// the database.
struct SignedHeads: Sendable {
    /// A longer file is rewritten with only the last head, which is all that a signer needs.
    private static let longest: Int64 = 1 << 20
    /// The longest line: 19 digits, a space, 44 characters of base64, a newline.
    private static let line = 65

    /// The last signed head.
    private(set) var size: Int64
    private(set) var root: MerkleHash
    private var file: LogFile
    private var length: Int64
    /// Whether the last line was not written, or only in part.
    private var isBroken = false

    /// The file that belongs to a key.
    static func path(besideKey path: String) -> String { path + ending }
    private static let ending = ".heads"

    /// Creates the file of a new key, without heads.
    ///
    /// - Throws: `signingKeyMissing` if a signer of this name has signed, `malformed`, `fileFailed`.
    static func create(_ path: String) throws(LogError) {
        do throws(LogError) {
            try LogFile.create(path, mode: 0o600, bytes(0, .ofEmptyTree))
        } catch  where error.code == .fileExists {
            // A crash between the creation of the two files of a new key leaves this one.
            if let lost = try lostKey(path) { throw lost }
        }
    }

    /// The error that a file of heads has no key; `nil` if there is no file, or nothing was signed.
    ///
    /// - Throws: `malformed`, `fileFailed`: then it is not known whether something was signed.
    static func lostKey(_ path: String) throws(LogError) -> LogError? {
        let heads: (size: Int64, root: MerkleHash)
        do throws(LogError) {
            heads = try last(path)
        } catch  where error.code == .headsMissing {
            return nil
        }
        guard heads.size > 0 else { return nil }
        let key = path.dropLast(ending.count)
        return LogError(
            .signingKeyMissing,
            """
            there is no \(key), and \(path) says that it signed \(heads.size) leaves; put the key back. If it is lost, \
            rename \(path): the next start makes another key, and everybody who verifies checkpoints needs both public keys
            """)
    }

    /// Opens the file, and removes a last line that was not written completely: its head was not published.
    ///
    /// - Throws: `headsMissing`, `malformed`, `fileFailed`.
    init(_ path: String) throws(LogError) {
        file = try Self.open(path, O_RDWR | O_APPEND)
        let tail = try Self.tail(file)
        length = tail.end
        if length < tail.present {
            try file.truncate(to: length)
            try file.flush()
        }
        (size, root) = tail.head
    }

    /// The last signed head, read while a signer may append to the file.
    ///
    /// - Throws: `headsMissing`, `malformed`, `fileFailed`.
    static func last(_ path: String) throws(LogError) -> (size: Int64, root: MerkleHash) {
        try tail(try open(path, O_RDONLY)).head
    }

    private static func open(_ path: String, _ flags: Int32) throws(LogError) -> LogFile {
        do throws(LogError) {
            return try LogFile(path, flags)
        } catch  where error.code == .fileMissing {
            throw LogError(
                .headsMissing,
                """
                there is no \(path), which lists what \(path.dropLast(ending.count)) signed; put it back if it was moved. \
                If it is lost, end the origin with 'assay audit continue --checkpoint FILE', where FILE is the newest \
                published checkpoint
                """)
        }
    }

    /// The last complete line, its end, and the end of the file.
    private static func tail(
        _ file: LogFile
    ) throws(LogError) -> (head: (size: Int64, root: MerkleHash), end: Int64, present: Int64) {
        let present = try file.length()
        let start = max(0, present - Int64(2 * line))
        let tail = try file.read(from: start, count: Int(present - start))
        guard let end = tail.lastIndex(of: 0x0A) else { throw malformed(file.path) }
        let line = tail[..<end].split(separator: 0x0A, omittingEmptySubsequences: false).last ?? []
        guard let head = head(line) else { throw malformed(file.path) }
        return (head, start + Int64(end) + 1, present)
    }

    /// Appends a head, and returns after it is on the disk.
    mutating func append(_ size: Int64, _ root: MerkleHash) throws(LogError) {
        if isBroken {
            // A partial line must not become the start of the next one. A whole line that may not be on the disk was
            // not signed, and is written again.
            try file.truncate(to: length)
            try file.flush()
            isBroken = false
        }
        if length > Self.longest {
            try LogFile.replace(file.path, mode: 0o600, Self.bytes(self.size, self.root))
            self = try SignedHeads(file.path)
        }
        let line = Self.bytes(size, root)
        do throws(LogError) {
            try file.write(line)
            try file.flush()
        } catch {
            isBroken = true
            throw error
        }
        length += Int64(line.count)
        (self.size, self.root) = (size, root)
    }

    private static func bytes(_ size: Int64, _ root: MerkleHash) -> [UInt8] {
        Array("\(size) \(Base64Form.canonical(root.bytes))\n".utf8)
    }

    private static func head(_ line: ArraySlice<UInt8>) -> (Int64, MerkleHash)? {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 2, let size = Int64(String(decoding: parts[0], as: UTF8.self)), size >= 0,
            let root = Base64Form.canonicalBytes(parts[1]).flatMap({ MerkleHash($0) }),
            bytes(size, root).dropLast().elementsEqual(line)
        else { return nil }
        return (size, root)
    }

    private static func malformed(_ path: String) -> LogError {
        LogError(
            .malformed,
            """
            \(path) does not end with a line of size and root; move it away, and end the origin with 'assay audit \
            continue --checkpoint FILE', where FILE is the newest published checkpoint
            """)
    }
}
