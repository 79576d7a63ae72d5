import PurchaseLedger
import TextFormats

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
