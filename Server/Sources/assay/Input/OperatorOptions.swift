import ArgumentParser
import PurchaseLedger

/// The app that an operator's command is about, and its database.
struct OperatorOptions: ParsableArguments {
    @OptionGroup var ledger: LedgerDatabaseOptions

    @Option(name: .long, help: "The app, by its name in the settings.")
    var app: String

    /// Opens the ledger, if it knows the app.
    func withLedger(_ body: (PurchaseLedger) async throws -> Void) async throws {
        try await ledger.withLedger { ledger in
            guard ledger.apps.contains(where: { ExactText($0) == ExactText(app) }) else {
                let known = ledger.apps.isEmpty ? "none" : ledger.apps.joined(separator: ", ")
                throw InputError(
                    app, "the ledger has no such app, but \(known); 'assay serve' records the apps of its settings")
            }
            try await body(ledger)
        }
    }
}

/// Why an operator does something.
struct ReasonOption: ParsableArguments {
    @Option(name: .long, help: "Why, for the journal and the event: at most 256 bytes in one line.")
    var reason: String

    func validate() throws {
        guard ExactText(reason).isIdentifier else {
            throw ValidationError(
                "--reason is empty, has control characters, or is longer than \(ExactText.identifierBytes) bytes.")
        }
    }
}
