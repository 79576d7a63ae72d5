import ArgumentParser
import PurchaseLedger
import PurchaseServer

/// `assay keys`: the keys of the HTTP API, and the key that verifies the log.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Creates and revokes API keys, and shows the key of the log.",
        subcommands: [CreateKey.self, RevokeKey.self, CreateSigningKey.self])
}

/// `assay keys create`.
struct CreateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates a key and prints it once.",
        discussion: """
            The scope determines what the key may do: client (apps: submit and restore purchases), backend (servers: orders, \
            entitlements, balances, the record) or admin (everything, including operators' actions). Repeat --scope for several. \
            A key can be created before the server has started for the first time.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @Option(help: "The app that the key belongs to, by its name in the settings.") var app: String
    @Option(help: "client, backend or admin. Repeat for several.") var scope: [APIKeyScope]
    @Option(help: "A name that distinguishes the key from others in lists.") var name = ""

    @Option(
        name: [.short, .long],
        help: "A new file for the key, which only its owner may read; without it, standard output.")
    var output: String?

    func validate() throws {
        guard !scope.isEmpty else { throw ValidationError("A key needs a scope: client, backend or admin.") }
        guard ExactText(app).isIdentifier, name.isEmpty || ExactText(name).isIdentifier else {
            throw ValidationError(
                "Names have at most \(ExactText.identifierBytes) bytes, without control characters.")
        }
    }

    func run() async throws {
        let known = try options.place().configuration.apps
        if !known.isEmpty, known[app] == nil {
            throw ValidationError(
                "There is no app '\(app)' in the settings; there are \(known.keys.sorted().joined(separator: ", ")).")
        }
        try await options.withLedger(creating: true) { ledger in
            // The file is created first, because a key that could not be stored would stay valid.
            let file = try output.map { try SecretOutputFile(creating: $0) }
            do {
                let created = try await ledger.perform(CreateAPIKey(app: app, name: name, scopes: Set(scope)))
                if known.isEmpty {
                    Terminal.complain(
                        "no settings name any app, so '\(app)' was not checked; the server refuses the key until its "
                            + "settings have this app")
                }
                if let file {
                    try await write(created, to: file, ledger)
                } else {
                    Terminal.write("\(created.text)\n")
                    Terminal.remark("this is key \(created.key.id). It is not shown again; keep it safe.")
                }
            } catch {
                file?.remove()
                throw error
            }
        }
    }

    private func write(
        _ created: CreateAPIKey.Outcome, to file: SecretOutputFile, _ ledger: PurchaseLedger
    ) async throws {
        do {
            try file.write("\(created.text)\n")
        } catch {
            // The key was not delivered to anybody.
            _ = try await ledger.perform(RevokeAPIKey(id: created.key.id))
            throw error
        }
        Terminal.remark("key \(created.key.id) is in \(file.path)")
    }
}

/// `assay keys revoke`.
struct RevokeKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revokes a key, at once and for ever.",
        discussion: "Servers that use the database refuse the key from their next request on.")

    @OptionGroup var options: LedgerDatabaseOptions
    @Argument(help: "The id of the key, as 'assay list keys' shows it, or its name.") var key: String

    func run() async throws {
        try await options.withLedger { ledger in
            let id = try Self.id(of: key, among: try await ledger.answer(APIKeyList()))
            guard let revoked = try await ledger.perform(RevokeAPIKey(id: id)) else {
                throw InputError(key, "there is no such key; 'assay list keys' shows all")
            }
            Terminal.write("assay: revoked \(revoked.id) of \(revoked.app.printable)\n")
        }
    }

    /// The id of the key with an id, or of the only key in use with a name.
    private static func id(of named: String, among keys: [APIKey]) throws -> String {
        if let key = keys.first(where: { $0.id == named }) { return key.id }
        let matches = keys.filter { $0.revokedAt == nil && ExactText($0.name) == ExactText(named) }
        guard matches.count < 2 else {
            let ids = matches.map { "\($0.id) (\($0.app))" }.joined(separator: ", ")
            throw InputError(named, "is the name of \(matches.count) keys; revoke one by its id: \(ids)")
        }
        guard let key = matches.first else {
            throw InputError(named, "there is no key in use with this id or name; 'assay list keys' shows all")
        }
        return key.id
    }
}

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
    @Option(help: ArgumentHelp(ServerSetting.answerKey.help)) var answerKey: String?

    @Flag(
        name: .long, help: "Replaces the current key of answers with the next key, and creates another next key.")
    var rotate = false

    @Option(name: .customLong("for"), help: "What is signed: log or answers.") var purpose: Purpose

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
        try keys.createSigningKeyIfMissing()
        guard let key = try keys.verifier() else { return }
        Terminal.write("\(key.text)\n")
    }

    private func answerKeys() throws {
        let keys = AnswerKeyFiles(
            current: try options.place(options: ["--answer-key": answerKey.map { [$0] } ?? []])
                .answerKeyFile())
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
