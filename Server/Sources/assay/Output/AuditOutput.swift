import PurchaseLedger

/// The report of an audit or a rebuild, for people and `grep`: one finding a line, then the numbers of entries and of
/// pieces of evidence.
enum AuditOutput {
    static func write(_ report: AuditReport) {
        for finding in report.findings {
            Terminal.write("\(finding.kind.rawValue)  \(finding.detail.printable)\n")
        }
        let omitted = report.omitted > 0 ? ", and at least \(report.omitted) more" : ""
        Terminal.write(
            "assay: \(report.entries) journal entries, \(report.evidence) pieces of evidence, "
                + "\(report.findings.count) findings\(omitted)\n")
    }

    /// The audit of what is new since a checkpoint.
    static func write(_ report: NewEntriesReport) {
        for finding in report.findings {
            Terminal.write("\(finding.kind.rawValue)  \(finding.detail.printable)\n")
        }
        let omitted = report.omitted > 0 ? ", and at least \(report.omitted) more" : ""
        Terminal.write(
            """
            assay: since the checkpoint of \(report.since) leaves \(report.entries) entries, \(report.evidence) pieces of \
            evidence; \(report.originals) purchases and \(report.customers) customers compared; \
            \(report.findings.count) findings\(omitted)

            """)
        for subject in NewEntriesReport.unexamined { Terminal.write("assay: not examined: \(subject)\n") }
    }

    /// The audit of the Merkle log.
    static func write(_ log: LogAuditReport, checkpoints: Int, entryKeyFile: String) {
        for finding in log.findings {
            Terminal.write("\(finding.kind.rawValue)  \(finding.detail.printable)\n")
        }
        if log.omitted > 0 { Terminal.write("assay: \(log.omitted) more findings about the log\n") }
        for continuation in log.continuations { Terminal.write("assay: \(continuation.printable)\n") }
        Terminal.write(
            "assay: \(log.size) leaves, \(checkpoints) checkpoints, \(log.findings.count) findings about the log\n")
        if let oldest = log.pending.oldest {
            let late = log.isSealingLate ? "sealing_late: " : ""
            Terminal.write("assay: \(late)\(log.pending.count) entries wait for the log, the oldest since \(oldest)\n")
        }
        if !log.hasCheckedCodes {
            Terminal.write("assay: the codes of entries were not checked, because there is no \(entryKeyFile)\n")
        }
    }
}
