import ArgumentParser

/// `assay audit`: whether the journal and everything that follows from it are as they were written.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Verifies the log, the journal, its evidence and the tables; exports and proves them.",
        subcommands: [
            VerifyAudit.self, ExportJournal.self, WriteEvidence.self, ProveSubmission.self, CheckProof.self,
            ContinueLog.self,
        ])
}
