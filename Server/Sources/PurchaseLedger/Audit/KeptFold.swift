import Crypto
public import Foundation
import PurchaseVerification

extension PurchaseLedger {
    /// Audits what is new since an audit that kept its fold, or the whole ledger with all evidence if there is no such
    /// file, and keeps the fold if there are no findings. It needs time in proportion to what is new, except for two
    /// copies of the file. A whole audit keeps its fold in a second file from time to time, and goes on with it if it
    /// was interrupted less than a day ago.
    ///
    /// - Parameters:
    ///   - path: the file, which is written anew. The second one has the suffix `.part`.
    ///   - checkpoints: the checkpoints that the log must agree with.
    ///   - endedKeys: the public keys whose origins may have ended, for a whole audit.
    ///   - folder: where the fold goes on in a temporary database.
    ///   - partEntries: how many entries a fold grows, at least, before the second file is written again.
    ///   - progress: called after each page of the journal.
    /// - Throws: `LedgerStorageError`, `SQLiteBackup.Failure`.
    public func audit(
        keeping path: String, _ checkpoints: [Checkpoint] = [], endedKeys: [LogVerifierKey] = [],
        in folder: URL = FileManager.default.temporaryDirectory, partEntries: Int64 = 16_384,
        progress: @escaping @Sendable (AuditProgress) -> Void = { _ in }
    ) async throws -> AuditOutcome {
        let kept = try await KeptFold.continued(path, of: self, in: folder)
        let partial = "\(path).part"
        let begun = kept == nil ? try await KeptFold.interrupted(partial, of: self, in: folder) : nil
        // Another audit may write the same file.
        let next = "\(path).\(UUID().uuidString).next"
        defer { KeptFold.remove(next) }
        var audit = LedgerAudit(ledger: underAudit, folder: folder, progress: progress)
        (audit.keptPath, audit.nextPath, audit.partialPath) = (path, next, partial)
        audit.partEntries = partEntries
        let report = try await audit.run(from: kept, begun: begun)
        if kept == nil { KeptFold.remove(partial) }
        // Last, so that it examines every leaf of the fold.
        let since = report.since == nil ? nil : kept?.checkpoint
        let outcome = AuditOutcome(
            log: try await auditLog(
                checkpoints + [begun?.checkpoint].compactMap(\.self), since: since, endedKeys: endedKeys),
            report: report)
        guard outcome.log.findings.isEmpty, report.findings.isEmpty else { return outcome }
        guard rename(next, path) == 0 else {
            throw LedgerStorageError(.unavailable, "\(path): \(String(cString: strerror(errno)))")
        }
        return outcome
    }
}

/// The fold of a ledger as far as its log went at an earlier audit, with which a later one goes on.
///
/// The file has the tables of the fold and a checkpoint of the log. Who can change it can hide changes of the ledger.
struct KeptFold: Sendable {
    /// An entry since then changes what earlier ones mean: an erasure, which a fold reads first.
    struct Ended: Error {}

    /// A temporary copy of the file.
    let file: String
    /// The log that the fold covers.
    let checkpoint: Checkpoint
    let state: ReplayState
    /// How many erased customers the fold left out from the beginning.
    let erasures: Int

    /// The position of the last entry of the fold.
    var position: ReplayEntries.Position {
        ReplayEntries.Position(leaf: checkpoint.size - 1, lastFolded: state.order.last)
    }

    /// A copy of a file, to go on with.
    ///
    /// - Returns: `nil` if there is no file, or one of another schema or version of the rules, or one that was examined
    ///   without a key of entries, or with other trusted certificates.
    static func continued(
        _ path: String, of ledger: PurchaseLedger, in folder: URL
    ) async throws -> KeptFold? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let file = folder.appending(path: "assay-rebuild-\(UUID().uuidString).sqlite").path
        do {
            try FileManager.default.copyItem(atPath: path, toPath: file)
            let fold = try SQLiteDatabase(path: file)
            do {
                let kept = try await continued(fold, path, file, conditions(of: ledger))
                try await fold.close()
                return kept
            } catch {
                try await fold.close()
                throw error
            }
        } catch {
            remove(file)
            guard let error = error as? LedgerStorageError, [.schemaTooOld, .schemaTooNew].contains(error.kind) else {
                throw error
            }
            return nil
        }
    }

    /// How long after the last part an audit goes on, in seconds: what it has examined is not examined again.
    private static let partLasts: TimeInterval = 86_400

    /// A copy of the fold of a whole audit that was interrupted; `nil` if it is old, or if a customer was erased since.
    static func interrupted(
        _ path: String, of ledger: PurchaseLedger, in folder: URL
    ) async throws -> KeptFold? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let written = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        guard let kept = try await continued(path, of: ledger, in: folder) else { return nil }
        let erasures = try await ledger.database.read(.lists) { try Erasures(of: $0).customers.count }
        guard let written, abs(written.timeIntervalSinceNow) < partLasts, kept.erasures == erasures else {
            remove(kept.file)
            return nil
        }
        return kept
    }

    private static let noKey = "none"

    /// With what the entries of a fold are examined: the key of entries, and the certificates that evidence is verified
    /// with.
    private static func conditions(of ledger: PurchaseLedger) -> String {
        let certificates = ledger.verifier.trustedCertificates.map { Array(SHA256.hash(data: $0)).hexadecimal }
        return ([ledger.entryKey?.id ?? Self.noKey] + certificates.sorted()).joined(separator: " ")
    }

    private static func continued(
        _ fold: SQLiteDatabase, _ path: String, _ file: String, _ conditions: String
    ) async throws -> KeptFold {
        guard try await fold.read(.lists, { try SQLiteDialect().has(table: "kept_fold", $0) }) else {
            throw LedgerStorageError(.other, "\(path) is not a file that an audit kept; name another one")
        }
        try await LedgerMigrations.requireCurrent(fold)
        return try await fold.write { connection in
            guard
                var reader = try connection.rows(
                    "SELECT size, root, last, rules, conditions, erasures FROM kept_fold", []
                ).first?.reader
            else { throw LedgerStorageError(.schemaTooOld, "it is not complete") }
            let (size, root, last) = (try reader.integer(), try reader.blob(), try reader.integer())
            let (rules, examined, erasures) = (try reader.integer(), try reader.text(), try reader.integer())
            // The key of entries of a ledger never changes.
            let keys = [examined, conditions].map { $0.prefix { $0 != " " } }
            guard keys[0] == keys[1] || keys.contains(Substring(Self.noKey)) else {
                throw LedgerStorageError(
                    .other,
                    "\(path) is of a ledger with the key of entries \(keys[0]), not \(keys[1]); name another file")
            }
            guard rules == SchemaNumber.rules, let hash = MerkleHash(root), examined == conditions
            else {
                throw LedgerStorageError(.schemaTooOld, "it is of other rules, keys or certificates")
            }
            try TouchedRows.watch(connection)
            return KeptFold(
                file: file, checkpoint: Checkpoint(origin: path, size: size, root: hash),
                state: ReplayState(registry: try Registry(recordedIn: connection), order: EntryOrder(last: last)),
                erasures: Int(erasures))
        }
    }

    /// Writes a fold of leaves, without pending entries, beside a file.
    static func save(
        _ fold: SQLiteDatabase, _ file: String, at path: String, size: Int64, last: Int64, erasures: Int,
        of ledger: PurchaseLedger
    ) async throws {
        let root = try await ledger.database.read(.lists) { connection in
            let stored = try LogStateTable(connection: connection).row().size
            return try MerkleAppender(size: size, source: LogHashes(connection, size: stored)).root().bytes
        }
        try await fold.write { connection in
            try connection.execute("DROP TABLE IF EXISTS kept_fold", [])
            try connection.execute(
                """
                CREATE TABLE kept_fold (
                    size INTEGER PRIMARY KEY, root BLOB, last INTEGER, rules INTEGER, conditions TEXT,
                    erasures INTEGER)
                """, [])
            try connection.execute(
                """
                INSERT INTO kept_fold (size, root, last, rules, conditions, erasures)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                """,
                [
                    .integer(size), .blob(root), .integer(last), .integer(SchemaNumber.rules),
                    .text(conditions(of: ledger)), .integer(Int64(erasures)),
                ])
        }
        _ = try SQLiteBackup(of: file, to: path).write()
    }

    static func remove(_ file: String) {
        for suffix in ["", "-wal", "-shm"] {
            // A leftover temporary file does no harm.
            try? FileManager.default.removeItem(atPath: file + suffix)
        }
    }
}
