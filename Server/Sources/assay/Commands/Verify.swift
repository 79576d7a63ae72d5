import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseVerification

/// `assay verify`: verifies evidence and checks the policies of the options.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verifies receipts and signed data, and prints whether each is genuine, and if not, why.",
        discussion: """
            FILE is an app receipt or a transaction receipt, bare or in base64, or signed data of StoreKit 2 or of the \
            App Store server (JWS), or a verifyReceipt request in JSON, or a stream of such requests, one a line; \
            a folder means all files in it; '-' is standard input. Exit status: 0 all verified, 1 some rejected, \
            2 wrong usage or unreadable input, 3 none rejected, but some undetermined, because Apple gave no answer (only with '--ask-apple').
            """)

    @Argument(help: ArgumentHelp("Evidence, or a folder of it; '-' is standard input.", valueName: "file"))
    var files: [String]

    @OptionGroup var options: VerificationOptions
    @OptionGroup(title: "Asking Apple") var apple: AskAppleOptions
    @Flag(help: "Print one JSON object a line.") var json = false
    @Flag(help: "Print only rejected evidence, and the summary.") var failures = false
    @Flag(help: "Print nothing; the exit status shows whether all were verified.") var quiet = false
    @Option(help: "How many receipts to verify at the same time; one a core, if not given.") var jobs: Int?

    func validate() throws {
        guard files.filter({ $0 == "-" }).count <= 1 else {
            throw ValidationError("Standard input can be named once.")
        }
        guard jobs ?? 1 >= 1 else { throw ValidationError("'--jobs' takes a number from 1.") }
    }

    func run() async throws {
        let verifier = try options.verifier()
        let policies = options.policies()
        let files = try InputFolder.expanding(files)
        let question = try apple.question()
        let isSingle = files.count == 1
        let format: any VerdictFormat = json ? JSONVerdictFormat() : TextVerdictFormat(showsPurchases: isSingle)
        var reader = EvidenceReader(files)
        let output = VerdictOutput(format, showsProgress: !quiet && !(json && Terminal.isOutputTerminal))
        let shown: ShownVerdicts = quiet ? .none : failures ? .rejected : .all
        let interrupts = output.endAtInterrupt()
        defer { interrupts.cancel() }

        // Waiting for Apple uses no core.
        let usual = question == nil ? ProcessInfo.processInfo.activeProcessorCount : AppleQuestion.atOnce
        await ParallelBatches(jobs: jobs ?? usual).run {
            reader.nextBatch(limit: question == nil ? 64 : 1)
        } work: { batch in
            var verdicts = VerdictBatch()
            for item in batch {
                var verdict = EvidenceVerdict(item, verifier: verifier, policies: policies)
                if let question { verdict = await verdict.asking(question, item) }
                verdicts.append(verdict, format, shown)
            }
            return verdicts
        } output: { verdicts in
            output.write(verdicts, share: reader.share)
        }
        output.clearProgress()
        try await question?.end()
        let summary = output.summary
        for error in reader.errors { Terminal.complain("\(error)") }
        if !json, !quiet { Terminal.write(format.conclusion(summary, unchecked: options.uncheckedDemands)) }
        if !reader.errors.isEmpty { throw ExitCode.unusable }
        if summary.rejected > 0 { throw ExitCode.rejected }
        if summary.undetermined > 0 { throw ExitCode.undetermined }
    }
}

extension EvidenceReader {
    /// A batch has at most this many pieces or a megabyte, whichever comes first; 64 outweigh the cost of handing them
    /// to another core.
    fileprivate mutating func nextBatch(limit: Int) -> [EvidenceItem]? {
        var batch: [EvidenceItem] = []
        var bytes = 0
        while batch.count < limit, bytes < 1 << 20, let item = next() {
            bytes += item.size
            batch.append(item)
        }
        return batch.isEmpty ? nil : batch
    }
}

extension EvidenceItem {
    fileprivate var size: Int {
        switch content {
        case .evidence(let bytes): bytes.count
        case .request(let json): json.count
        }
    }
}
