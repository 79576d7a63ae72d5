import ArgumentParser
import PurchaseLedger

/// `assay keys revoke`.
struct RevokeKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revokes a key, at once and for ever.",
        discussion: "Servers that use the database refuse the key from their next request on.")

    @OptionGroup var options: LedgerDatabaseOptions

    @Argument(help: "The id of the key, as 'assay keys list' shows it.")
    var id: String

    func run() async throws {
        try await options.withLedger { ledger in
            guard let key = try await ledger.perform(RevokeAPIKey(id: id)) else {
                throw InputError(id, "there is no such key; 'assay keys list' shows all")
            }
            Terminal.write("assay: revoked \(key.id) of \(key.app.printable)\n")
        }
    }
}
