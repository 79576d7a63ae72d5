import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// `assay submissions show`.
struct ShowSubmission: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a claim as it was submitted, and the decision.")

    @OptionGroup var options: OperatorOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    @Argument(help: "The id of the submission.")
    var submission: String

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            guard let id = UUID(uuidString: submission) else {
                throw InputError(submission, "is not the id of a submission")
            }
            guard let record = try await ledger.answer(SubmissionByID(app: app, submissionID: id)) else {
                Terminal.complain("submission_unknown: there is no such submission")
                throw ExitCode.rejected
            }
            let message = SubmissionMessage(record)
            if json { try ListOptions.write(message) } else { Terminal.write(try FactList.text(message)) }
        }
    }
}
