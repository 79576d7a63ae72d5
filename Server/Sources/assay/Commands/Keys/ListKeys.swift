import ArgumentParser
import PurchaseLedger

/// `assay keys list`.
struct ListKeys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists all keys, without their secrets.")

    @OptionGroup var options: LedgerDatabaseOptions

    func run() async throws {
        try await options.withLedger(.reading) { ledger in
            for key in try await ledger.answer(APIKeyList()) {
                let scopes = key.scopes.map(\.rawValue).sorted().joined(separator: ",")
                let state = key.revokedAt.map { "revoked \($0)" } ?? "in use"
                let (app, name) = (key.app.printable, key.name.printable)
                Terminal.write("\(key.id)  \(app)  \(scopes)  made \(key.createdAt)  \(state)  \(name)\n")
            }
        }
    }
}
