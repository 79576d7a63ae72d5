import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseVerification

/// `assay customers show`.
struct ShowCustomer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows the entitlements of a customer, and the reason for each inactive one.",
        discussion: """
            It lists one entitlement for each product and environment, the named entitlements, the latest purchases, and what \
            operators did. Only the state 'active' gives access; for any other state there is a reason (docs/ledger.md, \
            "Reasons"). --at answers for a past or a future time with today's knowledge; a refund that was seen later counts \
            from its own date.
            """)

    /// Enough to see what happened lately; the API lists all.
    private static let purchases = 20

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The customer's id.")
    var customer: String

    @Option(name: .long, help: "The time of the entitlements, such as 2026-01-31T12:00:00Z; without it, now.")
    var at: Timestamp?

    @Option(
        name: .long,
        help: "Show this environment alone, as it would count; without it, everything that counts for the customer.")
    var environment: AppStoreEnvironment?

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            let summary = try await ledger.answer(CustomerSummary(app: app, customerID: customer))
            let query = EntitlementsOfCustomer(
                app: app, customerID: customer, environment: environment, at: at)
            let entitlements = try await ledger.answer(query)
            let purchases = try await ledger.answer(
                PurchasesOfCustomer(app: app, customerID: customer, limit: Self.purchases))
            let report = CustomerReport(
                query: query, summary: summary, entitlements: entitlements, purchases: purchases.entries,
                hasMore: purchases.next != nil)
            Terminal.write(json ? try report.json() : Array(report.text.utf8))
        }
    }
}
