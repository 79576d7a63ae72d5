import Foundation
import Synchronization

/// Signs checkpoints of one log with one key. It signs only trees that extend what it signed last, which it remembers in a file
/// beside its key, and only while it has the lock of the key: of two servers in one folder, one signs.
public final class CheckpointSigner: Sendable {
    private static let largestKey = 1024

    /// The public key.
    public var verifier: LogVerifierKey { key.verifier }

    private let key: LogSigningKey
    /// Keeps the lock.
    private let file: LogFile
    private let state: Mutex<State>

    private struct State {
        var heads: SignedHeads
        /// The edge of the tree that comes next; `nil` until the log was read.
        var edge: MerkleAppender?
    }

    /// Makes a signing key in a new file of mode 0600, and the file of its heads beside it.
    ///
    /// - Parameters:
    ///   - path: the file of the key.
    ///   - origin: the name of the log, such as `example.com/assay`. Each key is of one log.
    /// - Returns: the public key, which is given to those who verify checkpoints.
    /// - Throws: `fileExists`, `malformed` if the origin has spaces or a plus sign, `fileFailed`.
    @discardableResult
    public static func createKey(at path: String, origin: String) throws(LogError) -> LogVerifierKey {
        let key = try LogSigningKey(newFor: origin)
        guard access(path, F_OK) != 0 else { throw LogError(.fileExists, "\(path) exists already") }
        try SignedHeads.create(SignedHeads.path(besideKey: path))
        try LogFile.create(path, mode: 0o600, Array((key.text + "\n").utf8))
        return key.verifier
    }

    /// Reads a signing key and locks it.
    ///
    /// - Throws: `signerBusy` if another process signs with it, `fileMissing`, `fileMode`, `malformed`, `fileFailed`.
    public init(keyFile path: String) throws(LogError) {
        file = try LogFile(path, O_RDONLY)
        try file.requireSecrecy()
        guard try file.lock() else {
            throw LogError(.signerBusy, "another process signs with \(path); give each server a key of its own")
        }
        key = try LogSigningKey(text: try file.read(from: 0, count: Self.largestKey))
        state = Mutex(State(heads: try SignedHeads(SignedHeads.path(besideKey: path)), edge: nil))
    }

    /// The last tree that was signed.
    public var head: Checkpoint {
        state.withLock { Checkpoint(origin: verifier.name, size: $0.heads.size, root: $0.heads.root) }
    }

    /// The size up to which the signer knows the log; `nil` before it was read.
    package var knownSize: Int64? { state.withLock { $0.edge?.size } }

    /// Begins with the edge of the log at the size that was signed last.
    ///
    /// - Throws: `rewritten` if the log has another root at that size.
    package func begin(_ edge: MerkleAppender) throws(LogError) {
        try state.withLock { state throws(LogError) in
            guard edge.size == state.heads.size, edge.root() == state.heads.root else {
                throw Self.rewritten(state.heads.size, signed: state.heads.root, found: edge.root())
            }
            state.edge = edge
        }
    }

    /// Takes the leaves that come next.
    package func extend(_ leaves: [MerkleHash]) {
        state.withLock { state in
            for leaf in leaves { _ = state.edge?.append(leaf) }
        }
    }

    /// Signs the tree of all leaves that were taken: writes down its size and root, and returns when they are on the disk.
    ///
    /// - Parameter root: the root that the log states.
    /// - Throws: `rewritten` if the leaves have another root, `fileFailed`.
    package func sign(_ root: MerkleHash) throws(LogError) -> SignedCheckpoint {
        let size = try state.withLock { state throws(LogError) in
            guard let edge = state.edge else { throw LogError(.rewritten, "the log was not read before it was signed") }
            guard edge.root() == root else {
                // It begins again from what was signed.
                state.edge = nil
                throw Self.rewritten(edge.size, signed: edge.root(), found: root)
            }
            if edge.size > state.heads.size { try state.heads.append(edge.size, root) }
            return edge.size
        }
        return try key.signed(Checkpoint(origin: verifier.name, size: size, root: root))
    }

    private static func rewritten(_ size: Int64, signed: MerkleHash, found: MerkleHash) -> LogError {
        LogError(
            .rewritten,
            "at size \(size) the log has the root \(found.bytes.hexadecimal) and must have \(signed.bytes.hexadecimal)")
    }
}
