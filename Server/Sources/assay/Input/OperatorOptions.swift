import ArgumentParser
import PurchaseAPI
import PurchaseLedger

/// The app that an operator's command applies to, and its database.
struct OperatorOptions: ParsableArguments {
    @OptionGroup var ledger: LedgerDatabaseOptions

    @Option(name: .long, help: "The app, by its name in the settings.")
    var app: String

    /// Opens the ledger, if it knows the app.
    ///
    /// - Parameters:
    ///   - access: whether the command writes.
    ///   - trust: the certificates that evidence is verified with, for commands that verify any.
    ///   - body: the command's work.
    func withLedger(
        _ access: LedgerDatabaseOptions.LedgerAccess = .writing, trust: LedgerTrustOption? = nil,
        _ body: (PurchaseLedger) async throws -> Void
    ) async throws {
        try await ledger.withLedger(access, trust: trust) { ledger in
            try requireApp(of: ledger)
            try await body(ledger)
        }
    }

    /// Checks that a ledger knows the app.
    ///
    /// - Throws: `InputError`.
    func requireApp(of ledger: PurchaseLedger) throws {
        guard ledger.apps.contains(where: { ExactText($0) == ExactText(app) }) else {
            let known = ledger.apps.isEmpty ? "none" : ledger.apps.joined(separator: ", ")
            throw InputError(
                app, "the ledger has no such app, but \(known); 'assay serve' records the apps of its settings")
        }
    }
}

/// The operator's reason for an action.
struct ReasonOption: ParsableArguments {
    @Option(name: .long, help: "Why: \(RequestMembers.reasonRule). It is recorded.")
    var reason: String

    func validate() throws { try Self.require(reason) }

    /// The rule of the HTTP API.
    static func require(_ reason: String) throws {
        guard RequestMembers.isReason(reason) else {
            throw ValidationError("--reason is '\(reason.printable)'. Write \(RequestMembers.reasonRule).")
        }
    }
}
