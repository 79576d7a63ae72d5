import ArgumentParser
import PurchaseLedger

/// `assay keys signing`.
struct SigningKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing",
        abstract: "Prints the public key that verifies the log's checkpoints, and makes the key.",
        discussion: """
            The private key is in a file that only its owner can read (--signing-key). Give the public key to those who \
            verify checkpoints or proofs: 'assay audit verify --checkpoint FILE --key KEY', 'assay audit check PROOF \
            --key KEY'. It has the form of C2SP's signed notes: name+id+base64.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var key: SigningKeyOption

    @Option(name: .customLong("for"), help: "What is signed: log.")
    var purpose: Purpose

    /// The purpose of a key.
    enum Purpose: String, ExpressibleByArgument {
        case log
    }

    func run() async throws {
        let keys = try key.keys(options)
        do throws(LogError) {
            try keys.createSigningKeyIfMissing()
            guard let signed = try keys.lastSigned() else { return }
            Terminal.write("\(signed.verifier.text)\n")
        } catch {
            Terminal.complain("\(error)")
            throw error.status
        }
    }
}
