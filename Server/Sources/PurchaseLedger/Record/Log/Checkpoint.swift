public import Foundation
import PurchaseVerification

/// The statement of a log at a size (C2SP `tlog-checkpoint`): three lines without a time, so that it is identical when
/// it is published again after a crash.
public struct Checkpoint: Sendable, Equatable {
    /// The name of the log.
    public var origin: String
    /// The number of leaves.
    public var size: Int64
    /// The root of the tree at that size.
    public var root: MerkleHash

    /// Creates a checkpoint.
    public init(origin: String, size: Int64, root: MerkleHash) {
        self.origin = origin
        self.size = size
        self.root = root
    }

    /// The text that is signed.
    package var text: [UInt8] { Array("\(origin)\n\(size)\n\(Base64Form.canonical(root.bytes))\n".utf8) }

    /// Reads the text. Extension lines, which C2SP advises against, are refused, because nothing would check them.
    ///
    /// - Throws: `malformed`.
    package init(text: [UInt8]) throws(LogError) {
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count == 4, lines[3].isEmpty, (1...LogVerifierKey.longestName).contains(lines[0].count),
            let origin = String(validating: lines[0], as: UTF8.self), let size = Self.number(lines[1]),
            let root = Base64Form.canonicalBytes(lines[2]).flatMap({ MerkleHash($0) })
        else {
            throw LogError(.malformed, "a checkpoint has three lines: origin, size, and 32 bytes of root in base64")
        }
        self.init(origin: origin, size: size, root: root)
        guard self.text == text else { throw LogError(.malformed, "the size of a checkpoint has a leading zero") }
    }

    /// A decimal number without a sign that fits 63 bits.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...19).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}

/// A checkpoint with its signatures.
public struct SignedCheckpoint: Sendable, Equatable {
    /// The signed text.
    public let checkpoint: Checkpoint
    /// The signed note, as it is published.
    public let note: [UInt8]

    /// Reads and verifies a signed checkpoint.
    ///
    /// - Parameters:
    ///   - note: the bytes of the signed note.
    ///   - keys: the trusted keys. A key counts only for the origin of its name.
    /// - Throws: `malformed`, `signatureInvalid`, `keyUnknown`.
    public init(note: [UInt8], keys: [LogVerifierKey]) throws(LogError) {
        let signed = try SignedNote(note)
        let checkpoint = try Checkpoint(text: signed.text)
        try signed.verify(keys.filter { $0.name.isSame(as: checkpoint.origin) })
        self.checkpoint = checkpoint
        self.note = note
    }

    /// A checkpoint that was just signed.
    init(_ checkpoint: Checkpoint, by key: LogVerifierKey, signature: [UInt8]) {
        self.checkpoint = checkpoint
        note = SignedNote.bytes(checkpoint.text, name: key.name, keyID: key.id, signature: signature)
    }
}

/// Keeps the latest checkpoint in a file, which is replaced atomically.
public struct CheckpointFile: CheckpointPublisher {
    /// The path of the file.
    public let path: String

    /// Publishes to a file.
    public init(path: String) {
        self.path = path
    }

    public func publish(_ checkpoint: SignedCheckpoint) async throws {
        try LogFile.replace(path, mode: 0o644, checkpoint.note)
    }
}

/// The destination of checkpoints.
public protocol CheckpointPublisher: Sendable {
    /// Publishes a checkpoint. The same checkpoint may be published again after a crash.
    func publish(_ checkpoint: SignedCheckpoint) async throws
}

/// Writes each checkpoint to a stream, such as standard output, followed by an empty line.
public struct CheckpointStream: CheckpointPublisher {
    private let handle: FileHandle

    /// Publishes to a stream.
    public init(_ handle: FileHandle = .standardOutput) {
        self.handle = handle
    }

    public func publish(_ checkpoint: SignedCheckpoint) async throws {
        try handle.write(contentsOf: Data(checkpoint.note + [0x0A]))
    }
}
