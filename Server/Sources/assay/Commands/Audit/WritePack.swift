import ArgumentParser
import Foundation
import PurchaseConsole
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// `assay audit pack`.
struct WritePack: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Writes everything that is recorded about a customer or a transaction, with proofs, for a dispute.",
        discussion: """
            The folder has one page, index.html, and the proofs and the evidence as files beside it. 'assay audit check' \
            verifies each proof without a database. A customer's pack is also the answer to a customer who asks for their \
            data. With --redact, names, details, reasons and evidence are left out, and hashes, checks and proofs stay.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var signing: SigningKeyOption

    @Option(name: .long, help: "The app of the customer or transaction; the only app of the settings, if there is one.")
    var app: String?

    @Flag(name: .long, help: "Names a customer; without it, the argument is a transaction.")
    var customer = false

    @Flag(name: .long, help: "Leaves out what says something about a person.")
    var redact = false

    @Argument(help: "The id of the transaction, or with --customer of the customer.")
    var subject: String

    @Option(name: [.short, .long], help: "The folder to write; it must not exist.")
    var output: String

    func run() async throws {
        let keys = try signing.keys(options)
        var files: [DisputePack.File] = []
        try await options.withLedger(.reading) { ledger in
            guard let app = app ?? (ledger.apps.count == 1 ? ledger.apps.first : nil), ledger.apps.contains(app) else {
                throw ValidationError(
                    "Name the app with --app: \(ledger.apps.map(\.printable).joined(separator: ", ")).")
            }
            do {
                let pack = try await DisputePack.collect(
                    customer ? .customer(subject) : .transaction(subject), app: app, isRedacted: redact,
                    checkpoint: try keys.lastSigned()?.checkpoint, at: Timestamp(Date()), from: ledger)
                let page = DisputePack.File(path: "index.html", bytes: Array(try pack.page(.beside).utf8))
                files = [page] + (try pack.files())
            } catch is DisputePack.NothingRecorded {
                throw InputError(subject, "nothing is recorded about this transaction")
            }
        }
        try write(files)
        Terminal.remark("wrote \(output)/index.html and \(counted(files.count - 1, "file"))")
    }

    private func write(_ files: [DisputePack.File]) throws {
        let folder = URL(fileURLWithPath: output)
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw InputError(output, "exists already; name a new folder")
        }
        do {
            for file in files {
                let url = folder.appendingPathComponent(file.path)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try OutputFile.write(Data(file.bytes), to: url.path)
            }
        } catch {
            throw InputError(output, "cannot be written")
        }
    }
}
