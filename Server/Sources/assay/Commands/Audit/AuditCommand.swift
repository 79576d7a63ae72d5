import ArgumentParser

/// `assay audit`: verifies that the journal and everything derived from it are unchanged.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Verifies the log, the journal, its evidence and the tables; exports and proves them.",
        subcommands: [
            VerifyAudit.self, ExportJournal.self, WriteEvidence.self, ProveSubmission.self, CheckProof.self,
            ProveLogGrowth.self, CheckGrowth.self, ContinueLog.self, WritePack.self,
        ])
}
