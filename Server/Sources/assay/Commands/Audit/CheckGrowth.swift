import ArgumentParser
import PurchaseLedger
import TextFormats

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

    @Argument(help: "The file of the proof; - is standard input.")
    var proof: String

    @OptionGroup var keys: LogKeyOption

    @Option(name: .long, help: "The file of your earlier checkpoint.")
    var from: String?

    @Option(name: .long, help: "The file of your later checkpoint.")
    var to: String?

    func validate() throws {
        guard !keys.key.isEmpty else {
            throw ValidationError("Name the key of the log with --key; 'assay keys signing --for log' prints it.")
        }
    }

    func run() async throws {
        let trusted = try keys.keys()
        let json = Array(try InputFile.read(proof))
        let own = (from: try checkpoint(from, trusted), to: try checkpoint(to, trusted))
        let proven: (from: Checkpoint, to: Checkpoint)
        do throws(LogError) {
            proven = try GrowthProof(json: json).verify(keys: trusted)
            try Self.require(proven.from, own.from, "--from")
            try Self.require(proven.to, own.to, "--to")
        } catch {
            Terminal.complain("\(proof): \(error)")
            throw error.code == .malformed ? ExitCode.unusable : ExitCode.rejected
        }
        Terminal.write(Self.line("from", proven.from) + Self.line("to  ", proven.to) + "assay: the proof holds\n")
    }

    private func checkpoint(_ path: String?, _ keys: [LogVerifierKey]) throws -> Checkpoint? {
        guard let path else { return nil }
        return try CheckpointInput.read(path, keys: keys).checkpoint
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
