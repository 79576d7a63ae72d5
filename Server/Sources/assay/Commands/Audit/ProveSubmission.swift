import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer

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

    @Argument(help: "The id of the submission, or of another journal entry.")
    var submission: String

    @Option(name: .long, help: "The file of the checkpoint that the proof is for.")
    var checkpoint: String?

    @OptionGroup var keys: LogKeyOption

    @Option(name: [.short, .long], help: "The file to write; without it, standard output.")
    var output: String?

    func validate() throws {
        guard UUID(uuidString: submission) != nil else {
            throw ValidationError("'\(submission.printable)' is not the id of a submission, which is a UUID.")
        }
    }

    func run() async throws {
        guard let id = UUID(uuidString: submission) else { return }
        let recordKeys = try signing.keys(options)
        try await options.withLedger(.reading) { ledger in
            let proof = try await prove(id, recordKeys, ledger)
            let json = try proof.json
            guard let output, output != "-" else { return Terminal.write(json) }
            do {
                try OutputFile.write(Data(json), to: output)
            } catch {
                throw InputError(output, "cannot be written")
            }
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
        if let checkpoint {
            return try SignedCheckpoint(
                note: Array(try InputFile.read(checkpoint)), keys: try self.keys.keys(own: keys.verifier()))
        }
        guard let signed = try keys.lastSigned()?.checkpoint else {
            throw LogError(
                .notSealed,
                "nothing was signed with \(keys.signingKeyFile); name a checkpoint with --checkpoint, or start the server"
            )
        }
        return signed
    }
}
