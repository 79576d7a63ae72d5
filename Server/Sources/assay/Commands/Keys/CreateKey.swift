import ArgumentParser
import PurchaseLedger
import PurchaseServer

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

    @Option(name: .long, help: "The app that the key belongs to, by its name in the settings.")
    var app: String

    @Option(name: .long, help: "client, backend or admin. Repeat for several.")
    var scope: [APIKeyScope]

    @Option(name: .long, help: "A name that distinguishes the key from others in lists.")
    var name = ""

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
        let known = try options.place().file.apps
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
