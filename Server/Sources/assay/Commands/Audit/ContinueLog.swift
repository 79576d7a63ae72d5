import ArgumentParser
import PurchaseLedger
import PurchaseServer

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
