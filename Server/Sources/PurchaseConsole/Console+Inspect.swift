import Foundation
import PurchaseLedger
import PurchaseVerification

// Inspection of evidence.
extension Console {
    func inspect(
        _ request: ConsoleRequest, _ visit: ConsoleVisit, _ evidence: [UInt8] = []
    ) async throws -> ConsoleResponse {
        let app = try app(request)
        var values: [String: Any] = ["app": app]
        let sent = [evidence, request.file, Array((request.form["evidence"] ?? "").utf8)].first { !$0.isEmpty }
        if let sent {
            values.merge(try await inspection(sent, app)) { $1 }
        } else if request.isPost {
            values["error"] = "Nothing was sent: paste evidence or choose a file of at most 2 MB."
        }
        return render("inspect", "Inspect evidence", visit, values)
    }

    /// Each check of evidence; nothing is recorded. It runs on a thread of its own, which bounds how many run.
    func inspection(_ evidence: [UInt8], _ app: String) async throws -> [String: Any] {
        let (ledger, describe) = (ledger(), surroundings.tools.redactedReport)
        let (inspection, report) = try await inspections.run {
            let inspection = ledger.inspect(evidence, app: app)
            return (inspection, describe?(inspection))
        }
        let redacted: [String: Any] =
            report.map { report in
                [
                    "redacted": report,
                    "redactedHref": "data:text/plain;charset=utf-8;base64,\(Data(report.utf8).base64EncodedString())",
                ]
            } ?? [:]
        let failure = inspection.firstFailure
        let isComplete = inspection.checks.allSatisfy { if case .passed = $0.outcome { true } else { false } }
        return [
            "inspected": true, "kind": inspection.evidence?.kind?.rawValue ?? "Not recognised.",
            "verdict": isComplete
                ? "Genuine." : failure.map { "\($0.code.sentence) (\($0.code.rawValue))" } ?? "Not verified.",
            "checks": inspection.checks.map(Self.fields), "hasPath": !inspection.certificatePath.isEmpty,
            "path": inspection.certificatePath.map { ["name": $0] },
        ]
        .merging(redacted) { $1 }
    }

    private static func fields(_ check: EvidenceInspection.Check) -> [String: Any] {
        switch check.outcome {
        case .passed: ["name": check.name, "result": "passed", "why": ""]
        case .notPossible: ["name": check.name, "result": "not run", "why": "An earlier check failed."]
        case .failed(let error):
            ["name": check.name, "result": "failed", "why": error.message]
        }
    }
}
