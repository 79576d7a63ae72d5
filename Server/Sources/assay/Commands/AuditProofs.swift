import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import TextFormats

/// `assay audit prove`.
struct ProveSubmission: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove", abstract: "Writes the proof that an entry is in the log, with its details and evidence.",
        discussion: """
            The proof is one JSON file. 'assay audit check PROOF --key KEY' verifies it on any machine, without a \
            database. It contains the data that the customer sent, including names. Without --checkpoint it is for the tree that \
            this server signed last.
            """)

    /// The number of attempts while the server signs the new entries: for three seconds.
    private static let attempts = 12

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var signing: SigningKeyOption

    @Argument(help: "The id of the submission, or of another journal entry.") var submission: String
    @Option(help: "The file of the checkpoint that the proof is for.") var checkpoint: String?
    @OptionGroup var keys: LogKeyOption
    @OptionGroup var output: OutputOption

    func validate() throws {
        guard UUID(uuidString: submission) != nil else {
            throw ValidationError("'\(submission.printable)' is not the id of a submission, which is a UUID.")
        }
    }

    func run() async throws {
        guard let id = UUID(uuidString: submission) else { return }
        let recordKeys = try signing.keys(options)
        try await options.withLedger(.reading) { ledger in
            try output.write(try await prove(id, recordKeys, ledger).json)
        }
    }

    private func prove(_ id: UUID, _ keys: RecordKeys, _ ledger: PurchaseLedger) async throws -> EntryProof {
        var attempt = 1
        while true {
            do {
                return try await ledger.answer(ProveEntry(entryID: id, checkpoint: try signed(keys)))
            } catch let error as LogError
                where error.code == .notSealed && checkpoint == nil && attempt < Self.attempts
            {
                attempt += 1
                try await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    private func signed(_ keys: RecordKeys) throws -> SignedCheckpoint {
        guard let checkpoint else {
            return try keys.requireSigned("name a checkpoint with --checkpoint, or start the server")
        }
        return try SignedCheckpoint(
            note: try InputFile.read(checkpoint), keys: try self.keys.keys(own: keys.verifier()))
    }
}

/// `assay audit prove-growth`.
struct ProveLogGrowth: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove-growth",
        abstract: "Writes the proof that the log of one checkpoint extends an earlier one.",
        discussion: """
            The proof is one JSON file of a few kilobytes without any content of the journal. 'assay audit check-growth PROOF \
            --key KEY' verifies it on any machine, without a database: nothing that the earlier checkpoint covers was \
            changed, removed or moved. Without --to it is for the tree that this server signed last.

            Exit status: 0 if the proof was written, 1 if the log differs from a checkpoint, 2 for wrong usage or I/O.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var signing: SigningKeyOption

    @Option(help: "The file of the earlier checkpoint.") var from: String
    @Option(help: "The file of the later checkpoint.") var to: String?
    @OptionGroup var keys: LogKeyOption
    @OptionGroup var output: OutputOption

    func run() async throws {
        let recordKeys = try signing.keys(options)
        let (earlier, later) = try checkpoints(recordKeys)
        guard earlier.checkpoint.size <= later.checkpoint.size else {
            throw ValidationError(
                "The checkpoint of --from has \(earlier.checkpoint.size) leaves, and the later one "
                    + "\(later.checkpoint.size); exchange them.")
        }
        try await options.withLedger(.reading) { ledger in
            try output.write(try await ledger.answer(ProveGrowth(from: earlier, to: later)).json)
        }
    }

    private func checkpoints(_ recordKeys: RecordKeys) throws -> (from: SignedCheckpoint, to: SignedCheckpoint) {
        let trusted = try keys.keys(own: recordKeys.verifier())
        let earlier = try CheckpointInput.read(from, keys: trusted)
        let later = try to.map { try CheckpointInput.read($0, keys: trusted) }
        return (earlier, try later ?? recordKeys.requireSigned("name the later checkpoint with --to"))
    }
}

/// `assay audit check`.
struct CheckProof: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Verifies the proof of an entry, without a database.",
        discussion: """
            It verifies the checkpoint's signature under a key that you name, that the entry is in the signed tree, and \
            that details and evidence are those of the entry. --evidence writes the evidence, which 'assay verify' \
            verifies: the log proves that it was recorded, and Apple's signature proves its content.

            Exit status: 0 if the proof holds, 1 if it does not, 2 for wrong usage or I/O.
            """)

    @OptionGroup var proof: ProofOptions
    @Option(help: "The file to write the evidence to.") var evidence: String?

    func run() async throws {
        let (json, keys) = try proof.read()
        let proven: ProvenEntry
        do throws(LogError) {
            proven = try EntryProof(json: json).verify(keys: keys)
        } catch {
            throw proof.refused(error)
        }
        if let evidence {
            guard let bytes = proven.evidence else { throw InputError(evidence, "the proof has no evidence") }
            try OutputFile.write(bytes, to: evidence)
        }
        Terminal.write(Self.text(proven))
    }

    private static func text(_ proven: ProvenEntry) -> String {
        let (entry, checkpoint) = (proven.entry, proven.checkpoint)
        var lines = [
            "entry     \(entry.id.uuidString.lowercased())",
            "kind      \(entry.kind.name)" + (entry.code.isEmpty ? "" : ", \(entry.code.printable)"),
            "time      \(entry.at)", "app       \(entry.app.printable)",
            "leaf      \(proven.leafNumber) of \(checkpoint.size), \(checkpoint.origin.printable)",
        ]
        if let sha256 = entry.evidence {
            let state = proven.evidence.map { ", \(counted($0.count, "byte"))" } ?? ", erased"
            lines.append("evidence  SHA-256 \(sha256.hexadecimal)\(state)")
        }
        if let details = proven.details {
            lines.append("details   \(String(decoding: details, as: UTF8.self).printable)")
        }
        return lines.joined(separator: "\n") + "\nassay: the proof holds\n"
    }
}

/// `assay audit check-growth`.
struct CheckGrowth: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-growth",
        abstract: "Verifies the proof that a log extends an earlier one, without a database.",
        discussion: """
            It verifies the signatures of both checkpoints in the proof under a key that you name, and that the later tree \
            extends the earlier one. Name the checkpoints that you kept with --from and --to: the proof must be about \
            them. Otherwise compare the sizes and roots that it prints with yours.

            Exit status: 0 if the proof holds, 1 if it does not, 2 for wrong usage or I/O.
            """)

    @OptionGroup var proof: ProofOptions
    @Option(help: "The file of your earlier checkpoint.") var from: String?
    @Option(help: "The file of your later checkpoint.") var to: String?

    func run() async throws {
        let (json, keys) = try proof.read()
        let own = (from: try checkpoint(from, keys), to: try checkpoint(to, keys))
        let proven: (from: Checkpoint, to: Checkpoint)
        do throws(LogError) {
            proven = try GrowthProof(json: json).verify(keys: keys)
            try Self.require(proven.from, own.from, "--from")
            try Self.require(proven.to, own.to, "--to")
        } catch {
            throw proof.refused(error)
        }
        Terminal.write(Self.line("from", proven.from) + Self.line("to  ", proven.to) + "assay: the proof holds\n")
    }

    private func checkpoint(_ path: String?, _ keys: [LogVerifierKey]) throws -> Checkpoint? {
        try path.map { try CheckpointInput.read($0, keys: keys).checkpoint }
    }

    /// Checks that the proof is about a checkpoint that the caller has.
    private static func require(_ proven: Checkpoint, _ own: Checkpoint?, _ option: String) throws(LogError) {
        guard let own, own != proven else { return }
        throw LogError(
            .proofInvalid,
            "the proof is about \(proven.size) leaves of \(proven.origin) with another root or size than the checkpoint of "
                + "\(option), which has \(own.size) leaves of \(own.origin)")
    }

    private static func line(_ name: String, _ checkpoint: Checkpoint) -> String {
        let root = checkpoint.root.bytes.hexadecimal
        return "\(name)  \(counted(checkpoint.size, "leaf", "leaves")), root \(root), \(checkpoint.origin.printable)\n"
    }
}

/// A proof in a file, and the keys that it is verified with.
struct ProofOptions: ParsableArguments {
    @Argument(help: "The file of the proof; - is standard input.") var proof: String
    @OptionGroup var keys: LogKeyOption

    func validate() throws {
        guard !keys.key.isEmpty else {
            throw ValidationError("Name the key of the log with --key; 'assay keys signing --for log' prints it.")
        }
    }

    func read() throws -> (json: [UInt8], keys: [LogVerifierKey]) {
        let keys = try keys.keys()
        return (try InputFile.read(proof), keys)
    }

    /// Says why the proof does not hold.
    func refused(_ error: LogError) -> ExitCode {
        Terminal.complain("\(proof): \(error)")
        return error.code == .malformed ? .unusable : .rejected
    }
}

extension RecordKeys {
    /// The checkpoint that this server signed last.
    ///
    /// - Parameter advice: what to do if nothing was signed.
    fileprivate func requireSigned(_ advice: String) throws -> SignedCheckpoint {
        guard let signed = try lastSigned()?.checkpoint else {
            throw LogError(.notSealed, "nothing was signed with \(signingKeyFile); \(advice)")
        }
        return signed
    }
}
