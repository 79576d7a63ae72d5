import ArgumentParser
import Foundation
import LegacyLedger
import PurchaseServer
import PurchaseVerification

/// `assay keys`: who may call the HTTP API.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes, lists and revokes keys to the HTTP API.", subcommands: [Create.self, List.self, Revoke.self])

    /// A ledger needs a verifier only for purchases, which no key is.
    private static func ledger(_ database: any LedgerDatabase) -> PurchaseLedger {
        PurchaseLedger(database: database, verifier: PurchaseVerifier()) { Timestamp(Date()) }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a key and shows it, once.",
            discussion: """
                The scope says what it is for: client (apps: submit purchases), backend (servers: orders, entitlements, \
                balances, the record) or admin (everything). Give several by repeating --scope.
                """)

        @OptionGroup var options: LedgerDatabaseOptions

        @Option(name: .long, help: "The app that the key belongs to, by its name in the settings.")
        var app: String

        @Option(name: .long, help: "client, backend or admin. Repeat for several.")
        var scope: [APIKeyScope]

        @Option(name: .long, help: "Words that tell the key from others.")
        var name = ""

        @Option(
            name: [.short, .long],
            help: "A new file for the key, which only its owner may read; standard output, if not given.")
        var output: String?

        func run() async throws {
            guard !scope.isEmpty else { throw ValidationError("A key needs a scope: client, backend or admin.") }
            guard LedgerText.isIdentifier(app), name.isEmpty || LedgerText.isIdentifier(name) else {
                throw ValidationError(
                    "Names have at most \(LedgerText.identifierBytes) bytes, without control characters.")
            }
            let known = try options.place().file.apps
            if !known.isEmpty, known[app] == nil {
                throw ValidationError(
                    "There is no app '\(app)' in the settings; there are \(known.keys.sorted().joined(separator: ", "))."
                )
            }
            try await options.withDatabase(creating: true) { database in
                let (app, name, scopes) = (app, name, Set(scope))
                // Before the key is made: a key that cannot be handed over would stay in use.
                let file = try output.map { try SecretOutputFile(creating: $0) }
                do {
                    let (key, text) = try await Keys.ledger(database).write {
                        try $0.createKey(app: app, name: name, scopes: scopes)
                    }
                    if let file {
                        do {
                            try file.write("\(text)\n")
                        } catch {
                            // Nobody has the key.
                            _ = try await Keys.ledger(database).write { try $0.revokeKey(key.id) }
                            throw error
                        }
                        Terminal.write("assay: key \(key.id) is in \(file.path.printable)\n", toErrors: true)
                    } else {
                        Terminal.write("\(text)\n")
                        Terminal.write(
                            "assay: this is key \(key.id). It is not shown again; keep it safe.\n", toErrors: true)
                    }
                } catch {
                    file?.remove()
                    throw error
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists all keys, without their secrets.")

        @OptionGroup var options: LedgerDatabaseOptions

        func run() async throws {
            try await options.withDatabase { database in
                for key in try await Keys.ledger(database).read({ try $0.keys() }) {
                    let scopes = key.scopes.map(\.rawValue).sorted().joined(separator: ",")
                    let state = key.revokedAt.map { "revoked \($0)" } ?? "in use"
                    let (app, name) = (key.app.printable, key.name.printable)
                    Terminal.write("\(key.id)  \(app)  \(scopes)  made \(key.createdAt)  \(state)  \(name)\n")
                }
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revokes a key, at once and for good.")

        @OptionGroup var options: LedgerDatabaseOptions

        @Argument(help: "The id of the key, as `assay keys list` shows it.")
        var id: String

        func run() async throws {
            try await options.withDatabase { database in
                let id = id
                guard let key = try await Keys.ledger(database).write({ try $0.revokeKey(id) }) else {
                    throw ValidationError("There is no key '\(id)'.")
                }
                Terminal.write("assay: revoked \(key.id) of \(key.app.printable)\n")
            }
        }
    }
}
