import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// `assay database copy`: moves a ledger to another database.
struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Moves a ledger to another database: SQLite to PostgreSQL, back, or to a new file.",
        discussion: """
            Stop all servers of the source first. All waiting entries are sealed into the audit log, and no server can use \
            the source from then on. All tables are copied with their numbers, the leaves of the log in their order, its \
            tiles and its state. Then each row is compared with the source, and the Merkle root is computed again from the \
            target. Before that has succeeded, servers refuse the target (database_copy_unfinished). A copy that was \
            interrupted continues if the same command is run again.

            The target must be empty; a SQLite file is created. The keys of the record are files that are not in the \
            database: at the end the command lists those that must move with the ledger. Earlier checkpoints and proofs \
            stay valid.

            --reopen lets servers use the source again, if you decide not to use the target.

            --app moves one app into a ledger of its own, while the servers go on with the other apps. They answer 503 for the \
            app from then on (app_moved), with the URL of --moved-to. The new log has the origin of --origin, and its first leaf \
            names the old one. Everything is tried first, in a folder of TMPDIR that only you can read. If the command is \
            interrupted, run it again; --app with --reopen gives the move up, and deletes that folder.

            Exit status: 0 if the ledger was copied, 1 if the copy is refused, 2 for wrong usage or I/O.
            """)

    @Option(help: "The database with the ledger: sqlite:PATH, or a URL of PostgreSQL.") var from: String
    @Option(help: "The empty database.") var to: String?
    @Flag(help: "Let servers use the source of a copy again.") var reopen = false
    @Option(help: "Move this app alone.") var app: String?
    @Option(help: "With --app: the name of the new log, such as example.com/game.") var origin: String?
    @Option(name: .long, help: "With --app: the URL of the app's new servers, which the old ones name.")
    var movedTo: String?
    @Option(help: "With --app: move it although this many rows follow otherwise from its own entries.")
    var acceptDifferences = 0
    @Flag(help: "With --app and --reopen: give up a target that may have been used.") var discardTarget = false
    @OptionGroup var trust: LedgerTrustOption

    @Option(
        name: .long,
        help: "The settings file, which can name the keys (assay.yaml in the current folder, if there is one).")
    var config: String?

    @Option(help: ArgumentHelp(ServerSetting.entryKey.help)) var entryKey: String?
    @Option(help: ArgumentHelp(ServerSetting.signingKey.help)) var signingKey: String?

    func validate() throws {
        guard (to == nil) == reopen else {
            throw ValidationError("Name the empty database with --to, or open the source again with --reopen.")
        }
        let isMove = app != nil && !reopen
        guard !discardTarget || app != nil && reopen else {
            throw ValidationError("--discard-target is for --app with --reopen.")
        }
        guard acceptDifferences == 0 || isMove && acceptDifferences > 0 else {
            throw ValidationError("--accept-differences is a number of rows, with --app.")
        }
        guard (origin != nil) == isMove, (movedTo != nil) == isMove else {
            throw ValidationError("Name --origin and --moved-to with --app, and only then.")
        }
        guard origin.map(LogSigningKey.isOrigin) ?? true else {
            throw ValidationError("--origin is a name without spaces and plus signs: example.com/game.")
        }
    }

    func run() async throws {
        // The database server shows this name, so the copy is not mistaken for a server of Assay.
        setenv("PGAPPNAME", LedgerCopy.applicationName, 1)
        if let app { return try await move(app) }
        guard let to else { return try await reopenSource() }
        try await copy(to)
    }

    /// - Parameter files: the reader of the certificates, for a command that verifies evidence.
    func place(_ database: String, files: NamedFiles? = nil) throws -> LedgerPlace {
        let given = ["--database": database, "--entry-key": entryKey, "--signing-key": signingKey]
        var options = given.compactMapValues { $0.map { [$0] } }
        if files != nil, !trust.trust.isEmpty { options["--trust"] = trust.trust }
        return try LedgerDatabaseOptions.place(
            config: config, ProcessInfo.processInfo.environment, options: options, files: files)
    }

    private func reopenSource() async throws {
        try await place(from).open(isCreating: false).use { source in
            let isEnded = try await LedgerCopy.reopen(source)
            Terminal.write("assay: servers can use the database again\n")
            if isEnded {
                Terminal.complain(
                    "the ledger was copied whole to another database before; use only one of the two, and delete the other"
                )
            }
        }
    }

    private func copy(_ to: String) async throws {
        let place = try place(from)
        try Self.requireUnused(place)
        let keys = place.recordKeys
        try await place.open(isCreating: false).use { source in
            let entryKey = try EntryKey(file: keys.entryKeyFile)
            let signed = try keys.lastSigned()
            try await self.place(to).open(isCreating: true).use { target in
                let bar = CopyBar()
                defer { bar.clear() }
                let copy = LedgerCopy(
                    from: source, to: target, entryKey: entryKey,
                    signed: signed?.checkpoint.map { [$0.checkpoint] } ?? []
                ) { Timestamp(Date()) }
                let outcome = try await copy.run { bar.show($0) }
                bar.clear()
                report(outcome, keys, signed)
            }
        }
    }

    /// A server that has a SQLite file open holds a SQLite lock on it.
    static func requireUnused(_ place: LedgerPlace) throws {
        if let file = try place.fileInUse() { throw CopyError.sourceInUse(file) }
    }

    private func report(
        _ outcome: CopyOutcome, _ keys: RecordKeys, _ signed: (verifier: LogVerifierKey, checkpoint: SignedCheckpoint?)?
    ) {
        Terminal.write(
            """
            assay: copied \(counted(outcome.rows, "row")); the target equals the source
            assay: the log has \(counted(outcome.leaves, "leaf", "leaves")) and the root \(outcome.root), as before
            assay: servers can use the target now, and no longer the source

            Files that belong to the ledger and are not in the database. Move them to where the target's server finds them:
              key of entries  \(keys.entryKeyFile) (id \(outcome.entryKeyID), the one that the database names)

            """)
        if let signed {
            let size =
                signed.checkpoint.map { "\(counted($0.checkpoint.size, "leaf", "leaves")) signed, which the log has" }
                ?? "nothing signed"
            Terminal.write(
                """
                  signing key     \(keys.signingKeyFile) (\(signed.verifier.text))
                  signed heads    \(keys.signingKeyFile).heads (\(size))

                """)
        } else {
            Terminal.write(
                "  signing key     none at \(keys.signingKeyFile); move that of each server with its .heads file\n")
        }
    }
}
