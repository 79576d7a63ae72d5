import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// `assay database copy --app`.
extension Copy {
    func move(_ app: String) async throws {
        let place = try place(from, files: .read)
        let keys = place.recordKeys
        let entryKey = try EntryKey(file: keys.entryKeyFile)
        try await place.open(isCreating: false).use { database in
            let ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: PurchaseVerifier(anchors: place.configuration.anchors),
                entryKey: entryKey
            ) { Timestamp(Date()) }
            let copy = AppCopy(of: app, from: ledger, keyFile: keys.entryKeyFile)
            if let to, let origin, let movedTo {
                try await self.place(to).open(isCreating: true).use { target in
                    try await move(copy, to: target, origin, movedTo, ledger, keys)
                }
            } else {
                try await copy.reopen(discardsTarget: discardTarget)
                Terminal.write("assay: servers can answer for \(app) again; delete the target\n")
            }
            // A running server signs it.
            try await LogSealing(ledger: ledger, signer: nil).round()
        }
    }

    private func move(
        _ copy: AppCopy, to target: any LedgerDatabase, _ origin: String, _ movedTo: String, _ ledger: PurchaseLedger,
        _ keys: RecordKeys
    ) async throws {
        let (app, bar) = (copy.app, CopyBar())
        defer { bar.clear() }
        let outcome: AppCopy.Outcome?
        do {
            outcome = try await copy.run(
                to: target, origin: origin, place: movedTo, accepting: acceptDifferences,
                sign: { try await sign(ledger, keys) }, progress: { bar.show($0) }
            ) { step in
                bar.clear()
                Terminal.remark("\(app): \(step.rawValue)")
            }
        } catch {
            bar.clear()
            // The error itself matters more than what this says.
            if let moved = try? await copy.moved(), !moved.isFinished {
                Terminal.complain(
                    "servers answer 503 for \(app) until this command succeeds, or --reopen gives the move up")
            }
            throw error
        }
        guard let outcome else {
            return Terminal.write("assay: \(app) moved into this database before; start its servers\n")
        }
        if outcome.differences > 0 {
            Terminal.complain(
                """
                \(counted(outcome.differences, "row")) of \(app) follow otherwise from its own entries, because other apps sent \
                evidence of its purchases or it sent theirs
                """)
        }
        Terminal.write(
            """
            assay: moved \(app)
            assay: the new log has \(counted(outcome.leaves, "leaf", "leaves")) and the root \(outcome.root); its first leaf \
            names \(outcome.checkpoint.origin) at \(outcome.checkpoint.size)

            Give the servers of the target a copy of the key of entries (\(keys.entryKeyFile)), no signing key of another
            log, and record.origin: \(origin). Then name their URL to the App Store and to the app.

            """)
    }

    /// Seals the source, and reads the checkpoint that was signed last: by a server that has the key, or here.
    private func sign(_ ledger: PurchaseLedger, _ keys: RecordKeys) async throws -> Checkpoint? {
        do {
            let signer = try CheckpointSigner(keyFile: keys.signingKeyFile)
            try await LogSealing(ledger: ledger, signer: signer).round()
        } catch let error as LogError where error.code == .signerBusy {
            // The server that has the key signs.
        }
        return try keys.lastSigned()?.checkpoint?.checkpoint
    }
}
