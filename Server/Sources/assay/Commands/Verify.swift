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

/// The policies and trust anchors of `verify` and `inspect`.
struct VerificationOptions: ParsableArguments {
    @Option(help: "The bundle id that the receipt must belong to.") var bundleID: String?
    @Option(help: "The app version that the receipt must belong to.") var appVersion: String?

    @Option(
        name: .long,
        help: "The device that the receipt must be made for: a UUID (iOS), or hexadecimal bytes (Mac address).")
    var deviceID: DeviceIdentifier?

    @Option(help: "The transaction that the evidence must prove.") var transactionID: String?
    @Option(help: "The product of that transaction.") var productID: String?

    @Option(
        name: .long,
        help: "An environment to accept: Production, Sandbox, Xcode or another name. Repeat for several.")
    var environment: [AppStoreEnvironment] = []

    @Option(
        name: .long,
        help: "A certificate to trust besides Apple's roots, in DER, or several in PEM. Repeat for several files.")
    var trust: [String] = []

    @Option(
        name: .long, help: "The time at which the receipt is used, such as 2026-01-31T12:00:00Z; now, if not given.")
    var at: AppStoreTime?

    /// The time at which the evidence is used.
    var moment: AppStoreTime { at ?? AppStoreTime(Date()) }

    func validate() throws {
        guard productID == nil || transactionID != nil else {
            throw ValidationError("'--product-id' says of which product '--transaction-id' is; name both.")
        }
    }

    /// The verifier, with Apple's roots and the certificates that were named.
    func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: try TrustFile.anchors(trust))
    }

    /// The policies, in the order of their checks.
    func policies() -> [any PurchasePolicy] {
        let accepted: Set<AppStoreEnvironment> = environment.isEmpty ? [.production, .sandbox] : Set(environment)
        var policies: [any PurchasePolicy] = [EnvironmentPolicy(accepting: accepted)]
        if let bundleID { policies.append(BundleIDPolicy(bundleID)) }
        if let appVersion { policies.append(ApplicationVersionPolicy(appVersion)) }
        if let deviceID { policies.append(DeviceHashPolicy(deviceID)) }
        if let transactionID {
            policies.append(TransactionPolicy(TransactionFacts(transactionID: transactionID, productID: productID)))
        }
        policies.append(ExpirationPolicy(at: moment))
        return policies
    }

    /// The checks that were not made, in words, with the option for each.
    var uncheckedDemands: [String] {
        var unchecked: [String] = []
        if bundleID == nil { unchecked.append("bundle id (--bundle-id)") }
        if appVersion == nil { unchecked.append("app version (--app-version)") }
        if deviceID == nil { unchecked.append("device (--device-id)") }
        return unchecked
    }
}
