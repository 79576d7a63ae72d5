import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// `assay database rebuild`: writes the ledger again from its journal.
struct Rebuild: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes the ledger again to a new database, with tables computed from the journal.",
        discussion: """
            For a ledger whose tables, indexes or schema somebody or a disk changed. Stop all servers first. The journal and \
            its evidence determine facts, owners, entitlements, orders, balances, events and keys. This command verifies the \
            evidence again, computes all of these in a temporary database in TMPDIR, lists what differs, and writes them to a \
            new database, with a copy of the journal, the log, the evidence and all that the journal does not determine, such \
            as webhooks and operators. Numbers, ids and cursors stay. The old database is only read; keep it. Then check the \
            new one (assay audit verify --evidence --database NEW) and start the server on it.

            It is refused if the log, the journal or its evidence was changed, or if evidence that was accepted is refused now, \
            because purchases would be lost: restore a backup, or name the certificates with which the server verifies \
            evidence (--trust, ASSAY_TRUST or server.trust).

            A new file gets its name when it is complete. An empty database of PostgreSQL gets the ledger by 'assay database copy' from \
            a temporary file in TMPDIR, and servers refuse it until it is complete.

            Exit status: 0 if the new database is complete, 1 if the rebuild is refused, 2 for wrong usage or I/O.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var signing: SigningKeyOption
    @OptionGroup var trust: LedgerTrustOption

    @Option(
        name: .long, help: "The new database: sqlite:PATH of a new file, or the URL of an empty database of PostgreSQL."
    )
    var to: String

    @Flag(name: .long, help: "Rebuild a log of which no server signed a checkpoint yet, or whose signing key is lost.")
    var withoutCheckpoint = false

    func validate() throws {
        guard LedgerDatabases.isPostgreSQL(to) || to.hasPrefix("sqlite:") else {
            throw ValidationError("--to is '\(to)'. Write sqlite:PATH, or postgres://HOST/DATABASE.")
        }
    }

    func run() async throws {
        // PostgreSQL shows this name, so that the command does not take itself for a server.
        setenv("PGAPPNAME", LedgerCopy.applicationName, 1)
        let keys = try signing.keys(options)
        try Copy.requireUnused(try options.place())
        try await options.withDatabase { try await LedgerCopy.requireUnused($0) }
        guard LedgerDatabases.isPostgreSQL(to) else {
            try await rebuild(to: LedgerDatabaseOptions.absolute(String(to.dropFirst("sqlite:".count))), keys)
            Terminal.write("assay: the ledger was rebuilt to \(to)\n")
            return Self.warn()
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "assay-rebuilt-\(UUID().uuidString).sqlite")
        defer {
            for suffix in ["", "-wal", "-shm"] {
                // A leftover temporary file does no harm.
                try? FileManager.default.removeItem(atPath: file.path + suffix)
            }
        }
        try await rebuild(to: file.path, keys)
        let arguments = [
            "--from", "sqlite:\(file.path)", "--to", to, "--entry-key", keys.entryKeyFile, "--signing-key",
            keys.signingKeyFile,
        ]
        try await Copy.parse(arguments + (options.config.map { ["--config", $0] } ?? [])).run()
        Self.warn()
    }

    private static func warn() {
        Terminal.remark(
            "the old database can still be opened: start no server on it, what it writes is not in the new one")
    }

    private func rebuild(to file: String, _ keys: RecordKeys) async throws {
        let signed = try keys.lastSigned()?.checkpoint.map { [$0.checkpoint] } ?? []
        try await options.withLedger(.auditing, trust: trust) { ledger in
            // Without them, what somebody wrote to the database by SQL would count.
            guard try keys.entryKeyIfAny() != nil else {
                Terminal.complain("entry_key_missing: \(keys.entryKeyFile) is not there; name the key with --entry-key")
                throw ExitCode.unusable
            }
            guard try withoutCheckpoint || keys.lastSigned()?.checkpoint != nil else {
                Terminal.complain(
                    "checkpoint_missing: nothing says what was signed; name the key with --signing-key, or write "
                        + "--without-checkpoint")
                throw ExitCode.unusable
            }
            let bar = AuditBar()
            bar.begin()
            defer { bar.clear() }
            let outcome = try await ledger.rebuild(to: file, signed) { bar.show($0) }
            bar.clear()
            AuditOutput.write(outcome.log, checkpoints: signed.count, entryKeyFile: keys.entryKeyFile)
            AuditOutput.write(outcome.report)
            guard !outcome.isRebuilt else { return }
            Terminal.complain(
                "nothing was written: there are findings about the log, the journal or its evidence; restore a backup, or name"
                    + " the certificates with --trust")
            throw ExitCode.rejected
        }
    }
}
