import ArgumentParser
import PurchaseLedger

/// `assay keys list`.
struct ListKeys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists all keys, without their secrets.",
        discussion: "A running server writes once a minute when each key was last used.")

    @OptionGroup var options: LedgerDatabaseOptions

    func run() async throws {
        try await options.withLedger(.reading) { ledger in
            let keys = try await ledger.answer(APIKeyList())
            guard !keys.isEmpty else { return Terminal.remark("there are no keys; make one with 'assay keys create'") }
            var table = TextTable(["KEY", "APP", "SCOPES", "CREATED", "LAST USED", "STATE", "NAME"])
            for key in keys {
                table.append([
                    key.id, key.app.printable, key.scopes.map(\.rawValue).sorted().joined(separator: ","),
                    "\(key.createdAt)", key.usedAt.map { "\($0)" } ?? "-",
                    key.revokedAt.map { "revoked \($0)" } ?? "in use",
                    key.name.isEmpty ? "-" : key.name.printable,
                ])
            }
            Terminal.write(table.text(indent: 0))
        }
    }
}
