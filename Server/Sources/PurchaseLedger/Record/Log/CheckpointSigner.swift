import Crypto
import Foundation
import PurchaseVerification
import Synchronization

/// Signs checkpoints of one log with one key. It signs only trees that extend the last signed tree, which it stores in
/// a file beside its key, and only while it holds the lock of the key: of two servers in one folder, only one signs.
public final class CheckpointSigner: Sendable {
    private static let largestKey = 1024

    /// The public key.
    public var verifier: LogVerifierKey { key.verifier }

    private let key: LogSigningKey
    /// Holds the lock.
    private let file: LogFile
    private let state: Mutex<State>

    private struct State {
        /// The last signed tree.
        var size: Int64
        var root: MerkleHash
        /// `nil` if the file does not have the last signed tree, so that nothing more can be signed.
        var heads: SignedHeads?
        /// The edge of the tree to which the next leaves are appended; `nil` until the log was read.
        var edge: MerkleAppender?
    }

    /// Creates a signing key in a new file of mode 0600, and the file of its heads beside it.
    ///
    /// - Parameters:
    ///   - path: the file of the key.
    ///   - origin: the name of the log, such as `example.com/assay`. Each key belongs to one log.
    /// - Returns: the public key, to be given to those who verify checkpoints.
    /// - Throws: `fileExists`, `signingKeyMissing` if there are heads of a key of this name, `malformed` if the origin
    ///   has spaces or a plus sign, `fileFailed`.
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
    /// - Throws: `signerBusy` if another process signs with it, `fileMissing`, `headsMissing`, `fileMode`, `malformed`,
    ///   `fileFailed`.
    public convenience init(keyFile path: String) throws(LogError) {
        let (file, key) = try Self.locked(path)
        let heads = try SignedHeads(SignedHeads.path(besideKey: path))
        self.init(file, key, State(size: heads.size, root: heads.root, heads: heads))
    }

    /// Reads a signing key and locks it, to end its origin. If its heads are missing, or the checkpoint is newer than
    /// they are, the checkpoint is the last that is known to be signed. Nobody knows what was signed after it, so
    /// nothing more is signed.
    ///
    /// - Parameters:
    ///   - path: the file of the key.
    ///   - published: a checkpoint that this key signed.
    /// - Throws: like `init(keyFile:)`, except `headsMissing`; `rewritten` if the key signed another tree of that size.
    public convenience init(endingKeyAt path: String, published: SignedCheckpoint) throws(LogError) {
        let (file, key) = try Self.locked(path)
        let (size, root) = (published.checkpoint.size, published.checkpoint.root)
        do throws(LogError) {
            let heads = try SignedHeads(SignedHeads.path(besideKey: path))
            guard heads.size != size || heads.root == root else {
                throw Self.rewritten(size, signed: heads.root, found: root)
            }
            if heads.size >= size {
                self.init(file, key, State(size: heads.size, root: heads.root, heads: heads))
                return
            }
        } catch  where error.code == .headsMissing {}
        self.init(file, key, State(size: size, root: root))
    }

    private init(_ file: LogFile, _ key: LogSigningKey, _ state: State) {
        (self.file, self.key) = (file, key)
        self.state = Mutex(state)
    }

    private static func locked(_ path: String) throws(LogError) -> (LogFile, LogSigningKey) {
        let file = try LogFile(path, O_RDONLY)
        try file.requireSecrecy()
        guard try file.lock() else {
            throw LogError(.signerBusy, "another process signs with \(path); give each server a key of its own")
        }
        return (file, try LogSigningKey(text: try file.read(from: 0, count: largestKey)))
    }

    /// Reads a signing key and locks it; creates it if it is missing.
    ///
    /// - Parameters:
    ///   - path: the file of the key.
    ///   - origin: the name of a new log; `nil` gives it a random one.
    /// - Returns: the signer, and whether its key was created.
    /// - Throws: like `init` and `createKey`.
    public static func openOrCreate(
        keyFile path: String, origin: String? = nil
    ) throws(LogError) -> (signer: CheckpointSigner, isNew: Bool) {
        let isNew = try createKeyIfMissing(at: path, origin: origin)
        return (try CheckpointSigner(keyFile: path), isNew)
    }

    /// Creates a signing key unless there is one.
    ///
    /// - Returns: whether it was created.
    public static func createKeyIfMissing(at path: String, origin: String? = nil) throws(LogError) -> Bool {
        guard access(path, F_OK) != 0 else { return false }
        do throws(LogError) {
            try createKey(at: path, origin: origin ?? randomOrigin)
            return true
        } catch  where [.fileExists, .signingKeyMissing].contains(error.code) && access(path, F_OK) == 0 {
            // Another process was faster.
            return false
        }
    }

    /// Checks that an existing key is that of the origin in the settings, or of its continuation after a restore from a
    /// backup (`example.com/assay/2`).
    ///
    /// - Throws: `originDiffers`, `fileMissing`, `fileMode`, `malformed`, `fileFailed`.
    public static func requireOrigin(_ origin: String, ofKeyAt path: String) throws(LogError) {
        let name = try LogSigningKey(text: try LogFile.secret(path, limit: largestKey)).verifier.name
        let (wanted, found) = (continuation(origin), continuation(name))
        guard wanted.base.isSame(as: found.base), wanted.number <= found.number else {
            throw LogError(
                .originDiffers,
                """
                record.origin is '\(origin)', and the key \(path) belongs to '\(name)'; name that origin, or name \
                another file for a new key
                """)
        }
    }

    /// An origin, and which continuation of it a name is.
    private static func continuation(_ name: String) -> (base: String, number: Int) {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 1, let number = parts.last.flatMap({ Int($0) }), (2..<1_000_000).contains(number) else {
            return (name, 1)
        }
        return (parts.dropLast().joined(separator: "/"), number)
    }

    /// A random origin, because logs without a chosen name must not share a name.
    private static var randomOrigin: String {
        let bytes = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        return "assay-\(bytes.prefix(8).map { $0 }.hexadecimal)"
    }

    /// The error that the file of a signing key is missing although it signed; `nil` if the key is there, or nothing
    /// was signed.
    ///
    /// - Throws: `malformed`, `fileFailed` if the file of heads cannot be read.
    public static func lostKey(at path: String) throws(LogError) -> LogError? {
        access(path, F_OK) == 0 ? nil : try SignedHeads.lostKey(SignedHeads.path(besideKey: path))
    }

    /// Reads the public key of a file.
    ///
    /// - Throws: `fileMissing`, `fileMode`, `malformed`, `fileFailed`.
    public static func verifier(keyFile path: String) throws(LogError) -> LogVerifierKey {
        try LogSigningKey(text: try LogFile.secret(path, limit: largestKey)).verifier
    }

    /// Reads the public key of a file, and the checkpoint of the last signed tree, without the lock: signing the same
    /// text again is harmless.
    ///
    /// - Returns: the key, and the checkpoint; `nil` if nothing was signed.
    /// - Throws: `fileMissing`, `headsMissing`, `fileMode`, `malformed`, `fileFailed`.
    public static func lastSigned(
        keyFile path: String
    ) throws(LogError) -> (verifier: LogVerifierKey, checkpoint: SignedCheckpoint?) {
        let key = try LogSigningKey(text: try LogFile.secret(path, limit: largestKey))
        let head = try SignedHeads.last(SignedHeads.path(besideKey: path))
        guard head.size > 0 else { return (key.verifier, nil) }
        return (
            key.verifier,
            try key.signed(Checkpoint(origin: key.verifier.name, size: head.size, root: head.root))
        )
    }

    /// The statement that the origin of this key ended and another one continues its log, signed with this key.
    func continuation(
        of ended: Checkpoint, found: Int64, by origin: String, reason: String
    ) throws(LogError) -> RecordContinuedDetails {
        var details = RecordContinuedDetails(
            origin: ended.origin, size: ended.size, root: ended.root.bytes.hexadecimal, found: found,
            newOrigin: origin, reason: reason)
        guard let signature = key.signature(of: details.signedText) else {
            throw LogError(.malformed, "the signing key cannot sign")
        }
        details.signature = Base64Form.canonical(signature)
        return details
    }

    /// Ends the origin of this key and replaces the key by one of the next origin. The ended key and its heads are kept
    /// beside it; its id becomes part of their names.
    ///
    /// - Parameter origin: the next origin.
    /// - Returns: the new public key, and the new file name of the ended one.
    /// - Throws: `fileFailed`, `fileExists`, `malformed`.
    public func replaceKey(origin: String) throws(LogError) -> (verifier: LogVerifierKey, ended: String) {
        // An invalid origin is refused before any file is renamed.
        _ = try LogSigningKey(newFor: origin)
        let ended = "\(file.path).\(verifier.id.hexadecimal)"
        try keepHeads(besideKey: ended)
        guard access(ended, F_OK) != 0 else { throw LogError(.fileExists, "\(ended) exists already") }
        try Self.rename(file.path, to: ended)
        return (try Self.createKey(at: file.path, origin: origin), ended)
    }

    /// Gives the heads the name of the ended key, with the last signed tree at their end.
    private func keepHeads(besideKey ended: String) throws(LogError) {
        let (old, new) = (SignedHeads.path(besideKey: file.path), SignedHeads.path(besideKey: ended))
        if access(old, F_OK) == 0 {
            guard access(new, F_OK) != 0 else { throw LogError(.fileExists, "\(new) exists already") }
            try Self.rename(old, to: new)
        } else if access(new, F_OK) != 0 {
            try SignedHeads.create(new)
        }
        let (size, root) = (head.size, head.root)
        var heads = try SignedHeads(new)
        if heads.size < size { try heads.append(size, root) }
    }

    private static func rename(_ old: String, to new: String) throws(LogError) {
        guard Foundation.rename(old, new) == 0 else {
            throw LogError(.fileFailed, "\(old) cannot be renamed: \(String(cString: strerror(errno)))")
        }
    }

    /// The last signed tree.
    public var head: Checkpoint {
        state.withLock { Checkpoint(origin: verifier.name, size: $0.size, root: $0.root) }
    }

    /// Whether the file of heads has the last signed tree, without which nothing more can be signed.
    var knowsHeads: Bool { state.withLock { $0.heads != nil } }

    /// The size up to which the signer knows the log; `nil` before the log was read.
    package var knownSize: Int64? { state.withLock { $0.edge?.size } }

    /// Begins with the edge of the log at the last signed size.
    ///
    /// - Throws: `rewritten` if the log has another root at that size.
    package func begin(_ edge: MerkleAppender) throws(LogError) {
        try state.withLock { state throws(LogError) in
            guard edge.size == state.size, edge.root() == state.root else {
                throw Self.rewritten(state.size, signed: state.root, found: edge.root())
            }
            state.edge = edge
        }
    }

    /// Appends the next leaves.
    package func extend(_ leaves: [MerkleHash]) {
        state.withLock { state in
            for leaf in leaves { _ = state.edge?.append(leaf) }
        }
    }

    /// Signs the tree of all appended leaves, after its size and root are written to the disk.
    ///
    /// - Parameter root: the root that the log states.
    /// - Throws: `rewritten` if the leaves have another root, `fileFailed`.
    package func sign(_ root: MerkleHash) throws(LogError) -> SignedCheckpoint {
        let size = try state.withLock { state throws(LogError) in
            guard let edge = state.edge else { throw LogError(.rewritten, "the log was not read before it was signed") }
            guard edge.root() == root else {
                // The signer starts again from the last signed tree.
                state.edge = nil
                throw Self.rewritten(edge.size, signed: edge.root(), found: root)
            }
            if edge.size > state.size {
                guard state.heads != nil else {
                    throw LogError(.headsMissing, "the key signs nothing more, because its heads are not known")
                }
                try state.heads?.append(edge.size, root)
                (state.size, state.root) = (edge.size, root)
            }
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

/// `record_continued`: the log that ended, and the reason. It is the first leaf that the new origin signs.
struct RecordContinuedDetails: JournalDetails {
    static var kind: JournalKind { .recordContinued }
    /// The origin that ended.
    var origin: String
    /// The last signed size.
    var size: Int64
    /// The root at that size, in hexadecimal.
    var root: String
    /// The size of the log after the restore.
    var found: Int64
    var newOrigin: String
    var reason: String
    /// The signature of `signedText` by the key of the origin that ended, in base64.
    var signature: String?

    /// The other fields, one a line. It is no checkpoint: those have three lines.
    var signedText: [UInt8] {
        Array("assay record continued 1\n\(origin)\n\(size)\n\(root)\n\(found)\n\(newOrigin)\n\(reason)\n".utf8)
    }

    /// Whether one of the keys is of the origin that ended and signed the continuation.
    func isSigned(by keys: [LogVerifierKey]) -> Bool {
        guard let signature = signature.flatMap({ Base64Form.canonicalBytes(Array($0.utf8)[...]) })
        else { return false }
        return keys.contains { $0.name.isSame(as: origin) && $0.verifies(signature, of: signedText) }
    }
}
