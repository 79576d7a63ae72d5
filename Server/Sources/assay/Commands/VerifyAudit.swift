import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import TextFormats

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

            With --since FILE it does the same as with --evidence, and keeps what it computed in FILE if there are no \
            findings. The next time it goes on with FILE: it proves from the stored tiles that the log extends the part that \
            FILE covers, checks the entries after it, verifies their evidence, and compares the rows of the purchases and \
            customers that they touched. The report names what was not examined, so delete FILE and run a whole audit from time \
            to time. After an erasure the next audit is whole. A whole audit that is interrupted leaves FILE.part, and goes on \
            with it within a day. FILE is as large as the database and has its customers: keep it where only the auditor can \
            write.

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
            "Examine only what is new since the audit that wrote this file, and write it anew.", valueName: "file"))
    var since: String?

    @OptionGroup var keys: LogKeyOption

    @Flag(name: .long, help: "Verify all evidence again, and compute facts and entitlements from it.")
    var evidence = false

    func validate() throws {
        guard since == nil || !evidence else {
            throw ValidationError("--since verifies evidence, too; leave out --evidence")
        }
    }

    func run() async throws {
        let keys = try signing.keys(options)
        let own = try lastSigned(keys)
        let checkpoints = try checkpoints(keys, own: own.checkpoint).map(\.checkpoint)
        try await options.withLedger(.auditing, trust: trust) { ledger in
            if let since {
                return try await verify(ledger, keeping: LedgerDatabaseOptions.absolute(since), checkpoints, keys)
            }
            try await Self.verify(
                ledger, checkpoints, endedKeys: try endedKeys(keys), keys, evidence: evidence)
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

    /// Audits what is new since a kept fold.
    private func verify(
        _ ledger: PurchaseLedger, keeping path: String, _ checkpoints: [Checkpoint], _ keys: RecordKeys
    ) async throws {
        let bar = AuditBar()
        bar.begin()
        defer { bar.clear() }
        let outcome = try await ledger.audit(keeping: path, checkpoints, endedKeys: try endedKeys(keys)) {
            bar.show($0)
        }
        bar.clear()
        AuditOutput.write(outcome.log, checkpoints: checkpoints.count, entryKeyFile: keys.entryKeyFile)
        AuditOutput.write(outcome.report)
        guard outcome.log.findings.isEmpty, outcome.report.findings.isEmpty else { throw ExitCode.rejected }
        Terminal.write(
            "assay: the journal, its evidence and the compared rows agree; \(path) was written for the next audit\n")
    }

    /// The given keys. The origin of this server's own key has not ended: it is still used.
    private func endedKeys(_ keys: RecordKeys) throws -> [LogVerifierKey] {
        let own = try keys.verifier()
        return try self.keys.keys().filter { $0 != own }
    }

    /// The checkpoint that this server signed last. Missing heads are written as a finding.
    private func lastSigned(_ keys: RecordKeys) throws -> (checkpoint: SignedCheckpoint?, areHeadsMissing: Bool) {
        do throws(LogError) {
            return (try keys.lastSigned()?.checkpoint, false)
        } catch {
            guard error.code == .headsMissing else { throw error }
            Terminal.write("\(error.code.rawValue)  \(error.detail.printable)\n")
            return (nil, true)
        }
    }

    /// The checkpoints of the options, and the last one that this server signed.
    private func checkpoints(_ keys: RecordKeys, own: SignedCheckpoint?) throws -> [SignedCheckpoint] {
        let known = try self.keys.keys(own: keys.verifier())
        return try checkpoint.map { try CheckpointInput.read($0, keys: known) } + [own].compactMap(\.self)
    }
}

/// The report of an audit or a rebuild, for people and `grep`: one finding a line, then the numbers of entries and of
/// pieces of evidence.
enum AuditOutput {
    static func write(_ report: AuditReport) {
        for finding in report.findings {
            Terminal.write("\(finding.kind.rawValue)  \(finding.detail.printable)\n")
        }
        let omitted = report.omitted > 0 ? ", and at least \(report.omitted) more" : ""
        Terminal.write(
            "assay: \(counted(report.entries, "journal entry", "journal entries")), \(counted(report.evidence, "piece")) of "
                + "evidence, \(counted(report.findings.count, "finding"))\(omitted)\n")
        guard let since = report.since else { return }
        Terminal.write(
            "assay: since \(counted(since, "leaf", "leaves")); the rows of \(counted(report.originals, "purchase")) and "
                + "\(counted(report.customers, "customer")) compared\n")
        for subject in AuditReport.unexamined { Terminal.write("assay: not examined: \(subject)\n") }
    }

    /// The audit of the Merkle log.
    static func write(_ log: LogAuditReport, checkpoints: Int, entryKeyFile: String) {
        for finding in log.findings {
            Terminal.write("\(finding.kind.rawValue)  \(finding.detail.printable)\n")
        }
        if log.omitted > 0 { Terminal.write("assay: \(counted(log.omitted, "more finding")) about the log\n") }
        for continuation in log.continuations { Terminal.write("assay: \(continuation.printable)\n") }
        Terminal.write(
            "assay: \(counted(log.size, "leaf", "leaves")), \(counted(checkpoints, "checkpoint")), "
                + "\(counted(log.findings.count, "finding")) about the log\n")
        if let oldest = log.pending.oldest {
            let late = log.isSealingLate ? "sealing_late: " : ""
            let waiting = counted(log.pending.count, "entry waits", "entries wait")
            Terminal.write("assay: \(late)\(waiting) for the log, the oldest since \(oldest)\n")
        }
        if !log.hasCheckedCodes {
            Terminal.write("assay: the codes of entries were not checked, because there is no \(entryKeyFile)\n")
        }
    }
}
