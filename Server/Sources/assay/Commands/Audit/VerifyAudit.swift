import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer

/// `assay audit verify`.
struct VerifyAudit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract:
            "Compares the log with its checkpoints, the journal with its hashes, and the tables with the journal.",
        discussion: """
            It computes the Merkle log again and compares it with checkpoints: those of --checkpoint, and the last one that this \
            server signed. It checks the code of every entry under the key of entries (--entry-key), every index against its \
            table, the schema with its unique keys and triggers, each entry with its leaf, each piece of evidence with its \
            SHA-256, and the tables \
            that entries alone determine, such as keys, customers, tokens and orders.

            With --evidence it verifies all evidence again on all processors, computes facts, owners, entitlements and \
            events from it in a temporary database in TMPDIR, and compares every table. Name the certificates with which \
            the server verifies (--trust, ASSAY_TRUST or server.trust); other evidence counts as refused. The server may \
            run meanwhile, but its writes during the audit can be listed as differences.

            With --since it examines only what is new since a checkpoint: it proves from the stored tiles that the log \
            extends the checkpoint, checks the entries after it, verifies their evidence, and compares the purchases, \
            entitlements, lots and balances that they touched with their evidence and the rules. The report names what \
            was not examined, so run a whole audit from time to time.

            Entries that wait for the log are not a finding. Exit status: 0 if everything agrees, 1 if there are findings, \
            2 for wrong usage or I/O.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var signing: SigningKeyOption
    @OptionGroup var trust: LedgerTrustOption

    @Option(name: .long, help: "A file with a checkpoint that the log must agree with. Repeat for several.")
    var checkpoint: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Examine only what is new since a checkpoint: a file, or the number of leaves of one of --checkpoint or of the last signed one.",
            valueName: "checkpoint"))
    var since: String?

    @OptionGroup var keys: LogKeyOption

    @Flag(name: .long, help: "Verify all evidence again, and compute facts and entitlements from it.")
    var evidence = false

    func validate() throws {
        guard since == nil || !evidence else {
            throw ValidationError("--since verifies the evidence of the new entries; leave out --evidence")
        }
    }

    func run() async throws {
        let keys = try signing.keys(options)
        let own = try lastSigned(keys)
        let checkpoints = try checkpoints(keys, own: own.checkpoint)
        let start = try since.map { try startingCheckpoint($0, checkpoints, keys) }
        try await options.withLedger(.auditing, trust: trust) { ledger in
            if let start {
                return try await verify(ledger, since: start.checkpoint, checkpoints.map(\.checkpoint), keys)
            }
            try await Self.verify(
                ledger, checkpoints.map(\.checkpoint), endedKeys: try endedKeys(keys), keys, evidence: evidence)
        }
        // Without them the log is compared with less than was signed.
        guard own.areHeadsMissing else { return }
        throw ExitCode.rejected
    }

    /// Audits a whole ledger, and writes the report.
    ///
    /// - Parameters:
    ///   - ledger: the ledger.
    ///   - checkpoints: what the log must agree with.
    ///   - endedKeys: the public keys whose origins may have ended.
    ///   - keys: the keys of the record, named in the report.
    ///   - evidence: whether all evidence is verified again.
    /// - Throws: `ExitCode.rejected` if there are findings.
    static func verify(
        _ ledger: PurchaseLedger, _ checkpoints: [Checkpoint], endedKeys: [LogVerifierKey] = [], _ keys: RecordKeys,
        evidence: Bool
    ) async throws {
        let bar = AuditBar()
        // Neither needs the other's result.
        async let audited = ledger.audit(isVerifyingEvidence: evidence) { bar.show($0) }
        let log = try await ledger.auditLog(checkpoints, endedKeys: endedKeys)
        AuditOutput.write(log, checkpoints: checkpoints.count, entryKeyFile: keys.entryKeyFile)
        bar.begin()
        let report = try await audited
        bar.clear()
        AuditOutput.write(report)
        guard log.findings.isEmpty, report.findings.isEmpty else { throw ExitCode.rejected }
        Terminal.write(
            evidence
                ? "assay: the journal, its evidence and the tables agree\n"
                : "assay: the log, the hashes of the evidence and the tables agree\n")
    }

    private func verify(
        _ ledger: PurchaseLedger, since start: Checkpoint, _ checkpoints: [Checkpoint], _ keys: RecordKeys
    ) async throws {
        let log = try await ledger.auditLog(checkpoints, since: start)
        AuditOutput.write(log, checkpoints: checkpoints.count, entryKeyFile: keys.entryKeyFile)
        guard log.since != nil else {
            Terminal.complain("the log does not extend the checkpoint, so nothing else was compared")
            throw ExitCode.rejected
        }
        let bar = AuditBar()
        bar.begin()
        let report = try await ledger.audit(since: start) { bar.show($0) }
        bar.clear()
        AuditOutput.write(report)
        guard log.findings.isEmpty, report.findings.isEmpty else { throw ExitCode.rejected }
        Terminal.write("assay: the log extends the checkpoint, and the rows that newer entries touched agree\n")
    }

    /// The given keys. The origin of this server's own key has not ended: it is still used.
    private func endedKeys(_ keys: RecordKeys) throws -> [LogVerifierKey] {
        let own = try keys.verifier()
        return try self.keys.keys().filter { $0 != own }
    }

    /// The checkpoint of `--since`.
    private func startingCheckpoint(
        _ since: String, _ checkpoints: [SignedCheckpoint], _ keys: RecordKeys
    ) throws -> SignedCheckpoint {
        guard let size = Int64(since) else {
            do {
                return try CheckpointInput.read(
                    since, keys: try self.keys.keys(own: try keys.verifier()))
            } catch let error as LogError {
                Terminal.complain("\(error)")
                throw error.status
            }
        }
        guard let known = checkpoints.first(where: { $0.checkpoint.size == size }) else {
            let sizes = checkpoints.map { "\($0.checkpoint.size)" }.joined(separator: ", ")
            throw ValidationError(
                "no checkpoint of \(size) leaves is known (\(sizes.isEmpty ? "none" : sizes)); name its file")
        }
        return known
    }

    /// The checkpoint that this server signed last. Missing heads are written as a finding.
    private func lastSigned(_ keys: RecordKeys) throws -> (checkpoint: SignedCheckpoint?, areHeadsMissing: Bool) {
        do throws(LogError) {
            return (try keys.lastSigned()?.checkpoint, false)
        } catch  where error.code == .headsMissing {
            Terminal.write("\(error.code.rawValue)  \(error.detail.printable)\n")
            return (nil, true)
        } catch {
            Terminal.complain("\(error)")
            throw error.status
        }
    }

    /// The checkpoints of the options, and the last one that this server signed.
    private func checkpoints(_ keys: RecordKeys, own: SignedCheckpoint?) throws -> [SignedCheckpoint] {
        do {
            let known = try self.keys.keys(own: keys.verifier())
            var checkpoints: [SignedCheckpoint] = []
            for path in checkpoint { checkpoints.append(try CheckpointInput.read(path, keys: known)) }
            if let own { checkpoints.append(own) }
            return checkpoints
        } catch let error as LogError {
            Terminal.complain("\(error)")
            throw error.status
        }
    }
}
