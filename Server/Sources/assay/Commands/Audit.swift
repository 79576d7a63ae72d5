import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseConsole
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// `assay audit`: verifies that the journal and everything derived from it are unchanged.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Verifies the log, the journal, its evidence and the tables; exports and proves them.",
        subcommands: [
            VerifyAudit.self, ExportJournal.self, WriteEvidence.self, ProveSubmission.self, CheckProof.self,
            ProveLogGrowth.self, CheckGrowth.self, ContinueLog.self, WritePack.self,
        ])
}

/// `assay audit export`.
struct ExportJournal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes the journal as one JSON object a line, oldest entry first.",
        discussion: """
            Each line has the members of the entry's leaf (entry_id, at, kind, app, customer, order, code, evidence_sha256), \
            the hash of the leaf and its number in the log, which is the order of the record (entries that wait for the log have \
            none), and the details, which contain names of customers. 'assay audit evidence' writes the \
            evidence of a hash.
            """)

    @OptionGroup var options: LedgerDatabaseOptions

    func run() async throws {
        try await options.withLedger(.reading) { ledger in
            var last = Int64.min
            while true {
                let page = try await ledger.answer(JournalExport(after: last))
                guard let end = page.last else { break }
                last = end.key
                for entry in page { Terminal.write(JournalLine(entry).text) }
            }
        }
    }
}

/// `assay audit evidence`.
struct WriteEvidence: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evidence", abstract: "Writes a piece of evidence as it was sent, such as a receipt in a dispute.",
        discussion: """
            Submissions and the export name evidence by its SHA-256, as evidence_sha256. 'assay inspect' reads the output.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @Argument(help: "The SHA-256 of the evidence, in hexadecimal digits.") var sha256: String
    @OptionGroup var output: OutputOption

    func run() async throws {
        guard let hash = Self.hash(sha256) else {
            throw ValidationError("'\(sha256)' is not a SHA-256: write 64 hexadecimal digits.")
        }
        try await options.withLedger(.reading) { ledger in
            guard let bytes = try await ledger.answer(EvidenceByHash(sha256: hash)) else {
                throw InputError(sha256, "there is no such evidence, or it was erased")
            }
            try output.write(bytes)
        }
    }

    private static func hash(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard pair.allSatisfy(\.isHexDigit), let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}

/// `assay audit continue`.
struct ContinueLog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "continue", abstract: "Starts a new origin of the log after a restore from a backup.",
        discussion: """
            A server does not sign a log that lacks entries it signed before (record_shorter_than_checkpoint, \
            record_rewritten). If you restored a backup, this command ends the origin: it records the last checkpoint and \
            the reason, as the first leaf that the new origin signs, and creates the key of the new origin. Stop the server first. \
            Everybody who verifies checkpoints needs the new public key, which it prints.

            If the file of heads beside the signing key was lost, name the newest published checkpoint with --checkpoint. \
            What the key signed after it is not known, so the origin ends even if the log extends that checkpoint.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var signing: SigningKeyOption
    @OptionGroup var reason: ReasonOption

    @Option(
        name: .long,
        help: "A file with the newest published checkpoint of the signing key, if the file of its heads was lost.")
    var checkpoint: String?

    @Option(name: .long, help: "The name of the new origin; without it, the old one with the next number: /2, /3.")
    var origin: String?

    func run() async throws {
        let keys = try signing.keys(options)
        try await options.withLedger { ledger in
            let signer = try signer(keys.signingKeyFile)
            let next = origin ?? Self.origin(after: signer.verifier.name)
            guard LogSigningKey.isOrigin(next), next != signer.verifier.name else {
                throw ValidationError(
                    "--origin is '\(next.printable)'. Write another name without spaces: example.com/assay/2.")
            }
            let (ended, found) = try await LogSealing(ledger: ledger, signer: signer)
                .end(signer, continuedBy: next, reason: reason.reason)
            let (verifier, file) = try signer.replaceKey(origin: next)
            Terminal.complain(
                "\(ended.origin) ended at \(ended.size) leaves, and the log has \(found); its key is kept as \(file)")
            Terminal.write("\(verifier.text)\n")
        }
    }

    private func signer(_ keyFile: String) throws -> CheckpointSigner {
        guard let checkpoint else { return try CheckpointSigner(keyFile: keyFile) }
        let published = try CheckpointInput.read(
            checkpoint, keys: [try CheckpointSigner.verifier(keyFile: keyFile)])
        return try CheckpointSigner(endingKeyAt: keyFile, published: published)
    }

    /// The same name with the next number.
    static func origin(after name: String) -> String {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 1, let number = parts.last.flatMap({ Int($0) }), (2..<1_000_000).contains(number) else {
            return "\(name)/2"
        }
        return (parts.dropLast() + ["\(number + 1)"]).joined(separator: "/")
    }
}

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

    @Flag(help: "Names a customer; without it, the argument is a transaction.") var customer = false
    @Flag(help: "Leaves out what says something about a person.") var redact = false
    @Argument(help: "The id of the transaction, or with --customer of the customer.") var subject: String
    @Option(name: [.short, .long], help: "The folder to write; it must not exist.") var output: String

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
        for file in files {
            let url = folder.appendingPathComponent(file.path)
            do {
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            } catch {
                throw InputError(output, "cannot be written")
            }
            try OutputFile.write(file.bytes, to: url.path)
        }
    }
}

/// A journal entry as a line of JSON.
struct JournalLine {
    /// The line, with its line feed.
    let text: [UInt8]

    init(_ entry: ExportedEntry) {
        let leaf = entry.leaf
        var json = JSONWriter()
        json.object { json in
            func member(_ name: StaticString, _ value: String?) { if let value { json.member(name, value) } }
            json.member("entry", entry.key)
            member("entry_id", leaf.id.uuidString.lowercased())
            member("at", "\(leaf.at)")
            member("kind", leaf.kind.name)
            member("app", leaf.app.isEmpty ? nil : leaf.app)
            member("customer", leaf.customer?.uuidString.lowercased())
            member("order", leaf.order?.uuidString.lowercased())
            member("code", leaf.code.isEmpty ? nil : leaf.code)
            member("evidence_sha256", leaf.evidence?.hexadecimal)
            member("leaf_hash", entry.leafHash.hexadecimal)
            if let number = entry.leafNumber { json.member("leaf_number", number) }
            // Canonical JSON, as the ledger wrote it; any other text was changed, which the audit reports.
            if let details = entry.details, let value = WrittenJSON.bounded(details) {
                json.key("details")
                value.write(to: &json)
            }
        }
        text = VisibleText.inJSON(json.bytes) + [UInt8(ascii: "\n")]
    }
}
