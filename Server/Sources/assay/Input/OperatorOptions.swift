import ArgumentParser
import PurchaseAPI
import PurchaseLedger

/// The app that an operator's command applies to, and its database.
struct OperatorOptions: ParsableArguments {
    @OptionGroup var ledger: LedgerDatabaseOptions

    @Option(
        name: .customLong("app"),
        help: ArgumentHelp(
            "The app, by its name in the settings; it can be left out if there is one.", valueName: "app"))
    var namedApp: String?

    /// Opens the ledger, if it knows the app.
    ///
    /// - Parameters:
    ///   - access: whether the command writes.
    ///   - trust: the certificates that evidence is verified with, for commands that verify any.
    ///   - body: the command's work, with the name of the app.
    func withLedger(
        _ access: LedgerDatabaseOptions.LedgerAccess = .writing, trust: LedgerTrustOption? = nil,
        _ body: (PurchaseLedger, String) async throws -> Void
    ) async throws {
        try await ledger.withLedger(access, trust: trust) { ledger in
            try await body(ledger, try app(of: ledger))
        }
    }

    /// The app that is named, or the only one of a ledger.
    ///
    /// - Throws: `InputError` if the ledger does not know the app, or if none is named and it has several or none.
    func app(of ledger: PurchaseLedger) throws -> String {
        guard let app = namedApp else {
            if ledger.apps.count == 1 { return ledger.apps[0] }
            let known = ledger.apps.isEmpty ? "no app yet" : "several: \(ledger.apps.joined(separator: ", "))"
            throw InputError("--app", "is missing, and the ledger has \(known); name one with --app")
        }
        guard ledger.apps.contains(where: { ExactText($0) == ExactText(app) }) else {
            let known = ledger.apps.isEmpty ? "none" : ledger.apps.joined(separator: ", ")
            throw InputError(
                app, "the ledger has no such app, but \(known); 'assay serve' records the apps of its settings")
        }
        return app
    }
}

/// The operator's reason for an action.
struct ReasonOption: ParsableArguments {
    @Option(help: "Why: \(RequestMembers.reasonRule). It is recorded.") var reason: String

    func validate() throws { try Self.require(reason) }

    /// The rule of the HTTP API.
    static func require(_ reason: String) throws {
        guard RequestMembers.isReason(reason) else {
            throw ValidationError("--reason is '\(reason.printable)'. Write \(RequestMembers.reasonRule).")
        }
    }
}
