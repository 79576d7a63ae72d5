import ArgumentParser
import PurchaseLedger
import PurchaseServer

/// `assay keys signing`.
struct CreateSigningKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing",
        abstract: "Prints the public keys that verify checkpoints or answers, and creates the keys.",
        discussion: """
            For the log, the private key is in a file that only its owner can read (--signing-key). Give the public key to those who \
            verify checkpoints or proofs: 'assay audit verify --checkpoint FILE --key KEY', 'assay audit check PROOF \
            --key KEY'. It has the form of C2SP's signed notes: name+id+base64.

            For answers, the private key is the file of --answer-key, or of server.answer_key_file in the settings. Put both \
            public keys into the app. The next key is in the file with '.next' behind its name; keep that file where the \
            server cannot read it. '--rotate' replaces the current key with the next key and creates another next key. \
            Rotate when enough customers have an app that pins the next key, and send the server SIGHUP.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var key: SigningKeyOption

    @Option(name: .long, help: ArgumentHelp(ServerSetting.answerKey.help))
    var answerKey: String?

    @Flag(
        name: .long, help: "Replaces the current key of answers with the next key, and creates another next key.")
    var rotate = false

    @Option(name: .customLong("for"), help: "What is signed: log or answers.")
    var purpose: Purpose

    /// The purpose of a key.
    enum Purpose: String, ExpressibleByArgument {
        case log
        case answers
    }

    func validate() throws {
        guard purpose == .answers || (!rotate && answerKey == nil) else {
            throw ValidationError("'--rotate' and '--answer-key' are for answers: use '--for answers'.")
        }
    }

    func run() async throws {
        guard purpose == .log else { return try answerKeys() }
        let keys = try key.keys(options)
        do throws(LogError) {
            try keys.createSigningKeyIfMissing()
            guard let key = try keys.verifier() else { return }
            Terminal.write("\(key.text)\n")
        } catch {
            Terminal.complain("\(error)")
            throw error.status
        }
    }

    private func answerKeys() throws {
        let keys = AnswerKeyFiles(current: try options.place().answerKeyFile(option: answerKey))
        try keys.createIfMissing()
        if rotate { try keys.rotate() }
        Terminal.write("current \(try keys.publicKey(keys.current))\n")
        if let next = try keys.nextPublicKey() {
            Terminal.write("next \(next)\n")
        } else {
            Terminal.complain("\(keys.next) is not here; its public key is what was printed when it was made")
        }
    }
}
