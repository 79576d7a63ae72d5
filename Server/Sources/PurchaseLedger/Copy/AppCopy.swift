public import Foundation
import PurchaseVerification
import TextFormats

/// Moves one app of a ledger into an empty ledger of its own, while the servers go on with the other apps.
///
/// 1. All that can fail is tried first: the keys, the target, an audit of the log, and step 3 into files that are
/// deleted again.
/// 2. An entry of the app ends its requests, work and deliveries (`MoveApp`), and a signed checkpoint covers it.
/// 3. The rows of the app are read in one transaction, with their numbers, into a file. Its first entry, number 0,
/// names the checkpoint, and all entries are sealed into a new log in their order. The tables are computed again from
/// these entries alone, as by a rebuild: what the new ledger has follows from its own record.
/// 4. `LedgerCopy` copies the file to the target, which servers refuse until step 6.
/// 5. An entry in the source names this copy (`FinishMove`). No other copy can be named after it.
/// 6. Servers can use the target.
///
/// So at most one target is ever opened. A call that was interrupted at any step is repeated and goes on.
public struct AppCopy: Sendable {
    /// What was done last, in words.
    public enum Step: String, Sendable, CaseIterable {
        case checked = "everything was checked and tried"
        case stopped = "the servers of the source answer for it no more"
        case signed = "a signed checkpoint covers that"
        case written = "its ledger was computed"
        case copied = "the target equals it"
        case finished = "the source names the target"
        case opened = "servers can use the target"
    }

    /// The times that a signature is waited for, half a second apart.
    private static let patience = 120

    let ledger: PurchaseLedger
    public let app: String
    /// The file of the key of entries. Its lock keeps other moves on this machine away.
    let keyFile: String
    /// Where the folder of the temporary files is created.
    let folder: URL

    /// - Parameters:
    ///   - app: the app that moves.
    ///   - ledger: the ledger that it leaves, with its key of entries.
    public init(
        of app: String, from ledger: PurchaseLedger, keyFile: String,
        folder: URL = FileManager.default.temporaryDirectory
    ) {
        (self.ledger, self.app, self.keyFile, self.folder) = (ledger, app, keyFile, folder)
    }

    /// The result.
    public struct Outcome: Sendable, Equatable {
        public var leaves: Int64
        /// The root of the new log, in hexadecimal.
        public var root: String
        /// The rows that follow from the app's own record otherwise than they were, because other apps sent evidence
        /// of its purchases, or the app evidence of theirs.
        public var differences: Int
        /// The checkpoint that the new log names.
        public var checkpoint: Checkpoint
    }

    /// Moves the app, or goes on with an interrupted move.
    ///
    /// - Parameters:
    ///   - target: the empty database, or the unfinished copy of an earlier call.
    ///   - origin: the origin of the new log.
    ///   - place: where to ask for the app from now on.
    ///   - differences: the most rows that may follow otherwise (`Outcome.differences`).
    ///   - sign: seals the source, and returns the checkpoint that was signed last.
    ///   - progress: called after each page of the copy.
    ///   - reached: called after each step. An error that it throws interrupts the move.
    /// - Returns: `nil` if the app had moved into this target before.
    /// - Throws: `CopyError`, `SQLiteBackup.Failure`, `LogError`, `LedgerStorageError`.
    public func run(
        to target: any LedgerDatabase, origin: String, place: String, accepting differences: Int = 0,
        sign: () async throws -> Checkpoint?,
        progress: (CopyProgress) throws -> Void = { _ in }, reached: (Step) async throws -> Void = { _ in }
    ) async throws -> Outcome? {
        let (lock, files) = (try await begin(), try files())
        defer { withExtendedLifetime(lock) {} }
        if let moved = try await moved() {
            if let copy = moved.copy {
                try await open(target, copy, of: moved)
                files.remove()
                return nil
            }
        } else {
            try await check(target, files, accepting: differences, sign)
            try await reached(.checked)
        }
        let moved = try await ledger.perform(MoveApp(app: app, origin: origin, place: place))
        try await reached(.stopped)
        let checkpoint = try await checkpoint(covering: moved.entry, sign)
        try await reached(.signed)
        let found: MoveFiles.Differences
        if let known = try await current(files, moved) {
            found = known
        } else {
            let from = AppMovedDetails.From(app, checkpoint, entry: moved.id.text)
            found = try await write(AppMovedDetails(origin: origin, from: from), to: files)
        }
        try require(found, atMost: differences)
        try await reached(.written)
        let source = try SQLiteDatabase(path: files.ledger)
        let copied: CopyOutcome
        do {
            copied = try await copy(source, to: target, moved, progress, reached)
            try await source.close()
        } catch {
            try await source.close()
            throw error
        }
        try await reached(.opened)
        files.remove()
        return Outcome(leaves: copied.leaves, root: copied.root, differences: found.count, checkpoint: checkpoint)
    }

    /// Lets the source answer for the app again.
    ///
    /// - Parameter discardsTarget: whether it may have moved whole, so that the target may have sold since.
    /// - Throws: `CopyError`, `LogError`, `LedgerStorageError`.
    public func reopen(discardsTarget: Bool = false) async throws {
        let lock = try await begin()
        defer { withExtendedLifetime(lock) {} }
        try files().remove()
        try await ledger.perform(ReopenApp(app: app, discardsTarget: discardsTarget))
    }

    /// Where the app moved, as the source says now; `nil` while it is there.
    public func moved() async throws -> MovedApp? {
        guard let key = ledger.registry.app(app)?.key else { throw CopyError.unknownApp(app) }
        return try await ledger.database.read(.keys) { try AppsTable(connection: $0).moved()[key] }
    }

    /// The temporary files. Nobody without the key knows the name of their folder.
    private func files() throws -> MoveFiles {
        guard let code = ledger.entryKey?.code(of: Array("the move of \(app)".utf8)) else {
            throw LogError(.notAuthentic, "the ledger was opened without the key of entries")
        }
        return MoveFiles(folder: folder.appending(path: "assay-move-\(code.prefix(8).hexadecimal)"))
    }

    /// - Returns: the lock.
    private func begin() async throws -> LogFile {
        guard let key = ledger.entryKey else { throw LogError(.notAuthentic, "the key of entries is needed") }
        try await LedgerCopy.require(key, of: ledger.database)
        let lock = try LogFile(keyFile, O_RDONLY)
        guard try lock.lock() else {
            throw CopyError(.sourceInUse, "another move of an app with \(keyFile) is running")
        }
        return lock
    }

    // MARK: 1. Before anything is written

    private func check(
        _ target: any LedgerDatabase, _ files: MoveFiles, accepting differences: Int,
        _ sign: () async throws -> Checkpoint?
    ) async throws {
        defer { files.remove() }
        try await LedgerCopy.requireEmpty(target)
        let newest = try await newest(in: ledger.database).entry
        let checkpoint = try await checkpoint(covering: newest ?? 0, sign)
        // Somebody may have deleted entries: the new log would not show it.
        if let finding = try await ledger.auditLog([checkpoint]).findings.first {
            throw CopyError(
                .logDiffers,
                "the log of the source has findings (\(finding.kind.rawValue), \(finding.detail)); run assay audit verify on it"
            )
        }
        let from = AppMovedDetails.From(app, checkpoint, entry: "")
        try require(try await write(AppMovedDetails(from: from), to: files), atMost: differences)
        try await LedgerMigrations.migrate(target, now: ledger.clock().millisecondsSince1970)
    }

    /// Refuses differences that nobody accepted.
    private func require(_ found: MoveFiles.Differences, atMost accepted: Int) throws {
        guard found.count > accepted else { return }
        throw CopyError(
            .appDiffers,
            """
            \(counted(found.count, "row")) of \(app) would follow otherwise from its own entries, because other apps sent \
            evidence of its purchases or it sent theirs (\(found.first)); accept that with \
            --accept-differences \(found.count)
            """)
    }

    /// A signed checkpoint that covers an entry, and that the source's log agrees with.
    private func checkpoint(
        covering entry: Int64, _ sign: () async throws -> Checkpoint?
    ) async throws -> Checkpoint {
        for attempt in 0..<Self.patience {
            if attempt > 0 { try await Task.sleep(for: .milliseconds(500)) }
            if let checkpoint = try await sign(), try await isCovered(entry, by: checkpoint) { return checkpoint }
        }
        throw LogError(.notSealed, "no server signed entry \(entry); see assay audit verify, and run the command again")
    }

    private func isCovered(_ entry: Int64, by checkpoint: Checkpoint) async throws -> Bool {
        let leaf = try await ledger.database.read(.keys) { try LogEntriesTable(connection: $0).leaf(of: entry) }
        guard let leaf, leaf < checkpoint.size else { return false }
        let found = try await ledger.answer(LogEdge(size: checkpoint.size)).edge?.root()
        guard found == checkpoint.root else {
            throw CopyError(
                .signerDiffers,
                "the log of the source has another root than \(checkpoint.origin) signed at \(checkpoint.size) leaves")
        }
        return true
    }

    // MARK: 3. The file

    /// The differences of the ledger that an earlier call computed; `nil` if it lacks something of the app. After an
    /// erasure it is computed again.
    private func current(_ files: MoveFiles, _ moved: MovedApp) async throws -> MoveFiles.Differences? {
        guard let differences = files.finished() else { return nil }
        let written = try SQLiteDatabase(path: files.ledger)
        let from = try await written.read(.lists) { try AppMovedDetails.From.of($0) }
        let found = try await newest(in: written).entry
        try await written.close()
        let needed = try await newest(in: ledger.database).entry
        return from?.entry == moved.id.text && found == needed ? differences : nil
    }

    /// The newest entry of the app in a ledger, and the number up to which no other entry can be committed.
    private func newest(in database: any LedgerDatabase) async throws -> (entry: Int64?, settled: Int64) {
        guard let key = ledger.registry.app(app)?.key else { throw CopyError.unknownApp(app) }
        let dialect = database.dialect
        return try await database.read(.lists) { connection in
            let settled = try connection.settledEntry()
            // It looks for the last entry of an app that may be old.
            for sql in dialect.unlimitedTime { try connection.execute(sql, []) }
            let last = try connection.integers("SELECT coalesce(max(entry_key), 0) FROM journal", []).first
            return (try JournalTable(connection: connection).newest(appKey: key), settled ?? last ?? 0)
        }
    }

    /// Writes the ledger of the app.
    ///
    /// - Parameter first: the details of its first entry.
    private func write(_ first: AppMovedDetails, to files: MoveFiles) async throws -> MoveFiles.Differences {
        try files.create()
        do {
            let differences = try await compute(first, files)
            try files.finish(differences)
            return differences
        } catch {
            files.remove()
            throw error
        }
    }

    private func compute(_ first: AppMovedDetails, _ files: MoveFiles) async throws -> MoveFiles.Differences {
        guard let entryKey = ledger.entryKey, let app = ledger.registry.app(app) else {
            throw CopyError.unknownApp(app)
        }
        let file = BackupFile(path: files.rows)
        try file.create()
        let rows = try AppRows(app: app, first: first, at: ledger.clock(), key: entryKey)
        let dialect = ledger.database.dialect
        try await ledger.database.read(.lists) { source in
            for sql in dialect.unlimitedTime { try source.execute(sql, []) }
            try rows.write(source, dialect, to: file)
        }
        try file.check()
        let database = try SQLiteDatabase(path: file.partial)
        do {
            let differences = try await complete(database, entryKey, files)
            try await database.close()
            file.discard()
            return differences
        } catch {
            try await database.close()
            throw error
        }
    }

    /// Seals the entries, and computes the tables from them.
    private func complete(
        _ database: SQLiteDatabase, _ entryKey: EntryKey, _ files: MoveFiles
    ) async throws -> MoveFiles.Differences {
        try await LedgerMigrations.requireCurrent(database)
        let copy = PurchaseLedger(
            database: database, verifier: ledger.verifier, settings: RegistryInForce(), clock: ledger.clock,
            entryKey: entryKey)
        let round = try await LogSealing(ledger: copy, signer: nil).seal()
        guard round.refusedInAll == 0 else {
            throw CopyError(
                .pendingRefused, "no server with the key wrote some entries of the app; run assay audit verify")
        }
        let outcome = try await copy.rebuild(to: files.ledger, in: files.folder)
        guard outcome.isRebuilt else {
            let findings = outcome.report.findings.filter { !$0.kind.isMendedByRebuild }
            let first = findings.first.map { "\($0.kind.rawValue), \($0.detail)" } ?? outcome.log.findings.first?.detail
            throw CopyError(
                .appDiffers,
                """
                the entries of the app alone do not give what they recorded (\(first ?? "")); name the certificates with \
                --trust, or run assay audit verify --evidence on the source
                """)
        }
        let report = outcome.report
        return MoveFiles.Differences(
            count: report.findings.count + report.omitted,
            first: report.findings.first.map { "\($0.kind.rawValue), \($0.detail)" } ?? "")
    }

    // MARK: 4 to 6. The target

    private func copy(
        _ source: SQLiteDatabase, to target: any LedgerDatabase, _ moved: MovedApp,
        _ progress: (CopyProgress) throws -> Void, _ reached: (Step) async throws -> Void
    ) async throws -> CopyOutcome {
        guard let entryKey = ledger.entryKey else { throw CopyError.unknownApp(app) }
        let newest = try await newest(in: source).entry
        return try await LedgerCopy(from: source, to: target, entryKey: entryKey, clock: ledger.clock)
            .run(progress: progress) { copy in
                try await reached(.copied)
                // The long search is done before others wait for it.
                let found = try await self.newest(in: ledger.database)
                guard found.entry == newest else { throw CopyError.overtaken(app) }
                try await ledger.perform(FinishMove(app: app, moved: moved, copy: copy, last: found.settled))
                try await reached(.finished)
            }
    }

    /// Opens the target of a finished move, if that is not done yet.
    ///
    /// - Throws: `appMoved` if the target is not that of the move.
    private func open(_ target: any LedgerDatabase, _ copy: String, of moved: MovedApp) async throws {
        let mark = try await CopyStart.mark(of: target)
        if let mark, mark.role == .target, mark.id.isSame(as: copy) { return try await LedgerCopy.open(target, copy) }
        let from = try await CopyStart.hasSchema(target) ? target.read(.keys) { try AppMovedDetails.From.of($0) } : nil
        guard mark == nil, from?.entry == moved.id.text else {
            throw CopyError(
                .appMoved,
                """
                \(app) moved into another database before, with the origin \(moved.origin), for the servers at \(moved.place); \
                delete this target, or give the other up with --reopen --discard-target
                """)
        }
    }
}
