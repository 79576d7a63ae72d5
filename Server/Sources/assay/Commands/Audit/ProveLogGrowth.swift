import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer

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

    @Option(name: .long, help: "The file of the earlier checkpoint.")
    var from: String

    @Option(name: .long, help: "The file of the later checkpoint.")
    var to: String?

    @OptionGroup var keys: LogKeyOption

    @Option(name: [.short, .long], help: "The file to write; without it, standard output.")
    var output: String?

    func run() async throws {
        let recordKeys = try signing.keys(options)
        let (earlier, later) = try checkpoints(recordKeys)
        guard earlier.checkpoint.size <= later.checkpoint.size else {
            throw ValidationError(
                "The checkpoint of --from has \(earlier.checkpoint.size) leaves, and the later one "
                    + "\(later.checkpoint.size); exchange them.")
        }
        try await options.withLedger(.reading) { ledger in
            let json = try await ledger.answer(ProveGrowth(from: earlier, to: later)).json
            guard let output, output != "-" else { return Terminal.write(json) }
            do {
                try OutputFile.write(Data(json), to: output)
            } catch {
                throw InputError(output, "cannot be written")
            }
        }
    }

    private func checkpoints(_ recordKeys: RecordKeys) throws -> (from: SignedCheckpoint, to: SignedCheckpoint) {
        do {
            let trusted = try keys.keys(own: recordKeys.verifier())
            let earlier = try CheckpointInput.read(from, keys: trusted)
            if let to { return (earlier, try CheckpointInput.read(to, keys: trusted)) }
            guard let signed = try recordKeys.lastSigned()?.checkpoint else {
                throw LogError(
                    .notSealed,
                    "nothing was signed with \(recordKeys.signingKeyFile); name the later checkpoint with --to")
            }
            return (earlier, signed)
        } catch let error as LogError {
            Terminal.complain("\(error)")
            throw error.status
        }
    }
}
