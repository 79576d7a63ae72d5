import PurchaseLedger

/// The report of an audit or a rebuild, for people and `grep`: one finding a line, then what was read.
enum AuditOutput {
    static func write(_ report: AuditReport) {
        for finding in report.findings {
            Terminal.write("\(finding.kind.rawValue)  \(finding.detail.printable)\n")
        }
        Terminal.write(
            "assay: \(report.entries) journal entries, \(report.evidence) pieces of evidence, "
                + "\(report.findings.count) findings\n")
    }
}
