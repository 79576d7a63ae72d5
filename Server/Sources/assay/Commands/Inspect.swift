import ArgumentParser
import Foundation
import PurchaseVerification

/// `assay inspect`: the content of evidence, and the result of each check.
struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the content of a receipt or signed data and the result of each check. It verifies nothing.",
        discussion: "Exit status: 0 every check passed, 1 some did not, 2 wrong usage or unreadable input.")

    @Argument(help: ArgumentHelp("The evidence to show; '-' is standard input.", valueName: "file")) var file: String
    @OptionGroup var options: VerificationOptions
    @Flag(help: "Hide personal identifiers: transaction and order numbers, device and account data.") var redact = false
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let verifier = try options.verifier()
        var reader = EvidenceReader([file])
        let first = reader.next()
        if let error = reader.errors.first { throw error }
        guard let item = first else { throw InputError(file, "holds nothing") }
        guard reader.next() == nil else {
            throw ValidationError("'\(file)' holds several receipts; 'assay verify' takes streams.")
        }
        let inspection = verifier.inspect(item.evidence(), policies: options.policies())
        let report = InspectionReport(
            inspection, source: file, unchecked: options.uncheckedDemands, redactor: Redactor(isActive: redact))
        Terminal.write(json ? report.json() : report.text())
        if inspection.firstFailure != nil { throw ExitCode.rejected }
    }
}
