import ArgumentParser
import PurchaseLedger

/// `assay keys revoke`.
struct RevokeKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revokes a key, at once and for ever.",
        discussion: "Servers that use the database refuse the key from their next request on.")

    @OptionGroup var options: LedgerDatabaseOptions

    @Argument(help: "The id of the key, as 'assay keys list' shows it, or its name.")
    var key: String

    func run() async throws {
        try await options.withLedger { ledger in
            let id = try Self.id(of: key, among: try await ledger.answer(APIKeyList()))
            guard let revoked = try await ledger.perform(RevokeAPIKey(id: id)) else {
                throw InputError(key, "there is no such key; 'assay keys list' shows all")
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
            throw InputError(named, "there is no key in use with this id or name; 'assay keys list' shows all")
        }
        return key.id
    }
}
