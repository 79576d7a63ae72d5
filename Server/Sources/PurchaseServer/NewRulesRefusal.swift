import Logging
import PurchaseLedger

/// The tables were not rebuilt under newer rules, because purchases would be lost.
public struct NewRulesRefusal: Error, CustomStringConvertible {
    let findings: Int

    public var description: String {
        "this version has newer rules, and the tables cannot be rebuilt, because \(findings) findings are about the "
            + "journal or its evidence; list them with 'assay audit verify', and restore a backup or name the certificates"
    }

    /// Rebuilds the tables if this version decides by newer rules than the previous one.
    static func applyNewRules(to ledger: PurchaseLedger, _ logger: Logger) async throws {
        guard let report = try await ledger.applyNewRules() else { return }
        let others = report.findings.count { !$0.kind.isOfTables }
        guard others == 0 else { throw NewRulesRefusal(findings: others) }
        logger.notice(
            "the tables were rebuilt under newer rules; the events 'corrected' name what changed",
            metadata: ["differences": .stringConvertible(report.findings.count)])
    }
}
