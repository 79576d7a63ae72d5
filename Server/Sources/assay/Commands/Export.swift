import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseVerification

/// `assay export`: every purchase, entitlement or event of an app, in columns.
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes all purchases, entitlements or events as CSV or NDJSON.",
        discussion: """
            docs/figures.md has the columns. Purchases and entitlements are read from one state of the ledger, events page by \
            page. In CSV, a text that a spreadsheet would run as a formula begins with an apostrophe.
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument { case purchases, entitlements, events }

    @OptionGroup var options: OperatorOptions

    @Option(help: "csv or ndjson.") var format: ExportFormat

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file, which is replaced when it is whole; without it, standard output.", valueName: "file"))
    var output: String?

    @Option(help: "Only this environment.") var environment: AppStoreEnvironment?

    @Argument(help: "What is exported: purchases, entitlements or events.") var kind: Kind

    func run() async throws {
        let (format, environment) = (format, environment)
        try await options.withLedger(.reading) { ledger, app in
            let file = try await ExportFile(output)
            do {
                switch kind {
                case .purchases:
                    let (columns, now) = (ExportedPurchase.columns, Timestamp(Date()))
                    try file.write(format.head(columns))
                    try await ledger.answer(
                        PurchaseExport(app: app, environment: environment) { rows in
                            for row in rows { try file.write(format.row(columns, row.cells(now))) }
                        })
                case .entitlements:
                    let columns = EntitlementExport.Row.columns
                    try file.write(format.head(columns))
                    try await ledger.answer(
                        EntitlementExport(app: app, environment: environment) { row in
                            try file.write(format.row(columns, row.cells))
                        })
                case .events:
                    let columns = EventContent.columns
                    try file.write(format.head(columns))
                    var list: EventSearch? = EventSearch(app: app, limit: 1000)
                    while let page = list {
                        let answer = try await ledger.answer(page)
                        for event in answer.entries
                        where environment.map({ $0.name == event.content.environment }) ?? true {
                            try file.write(format.row(columns, event.content.cells))
                        }
                        list = answer.next.map { EventSearch(app: app, after: $0, limit: 1000) }
                    }
                }
                try file.finish()
            } catch {
                file.discard()
                throw error
            }
        }
    }
}

extension ExportFormat: ExpressibleByArgument {}

extension ExportedPurchase {
    fileprivate static let columns = [
        "transaction_id", "original_transaction_id", "product_id", "customer_id", "environment", "type", "state",
        "ownership", "copy_of", "quantity", "refunded_quantity", "purchased_at", "expires_at", "grace_until",
        "retry_until", "upgraded_at", "revoked_at", "end_reason", "offer_type", "offer_mode", "amount", "currency",
        "storefront", "known_at",
    ]

    fileprivate func cells(_ now: Timestamp) -> [ExportCell] {
        [
            .text(transactionID), .text(originalTransactionID), .text(productID), .text(customerID),
            .text(environment.name), .text(kind?.rawValue), .text(state(at: now)), .text(ownership.rawValue),
            .text(copyOf), .number(quantity), .number(refundedQuantity), .time(purchasedAt), .time(expiresAt),
            .time(graceUntil), .time(retryUntil), .time(upgradedAt), .time(revokedAt), .text(endReason?.rawValue),
            .number(offerType), .text(offerMode), .text(amount.map { PurchaseFigures.amount($0, currency ?? "") }),
            .text(currency), .text(storefront), .time(knownAt),
        ]
    }
}

extension EntitlementExport.Row {
    fileprivate static let columns = [
        "customer_id", "product_id", "environment", "type", "state", "reason", "since", "until", "balance", "shortfall",
        "transaction_id", "original_transaction_id",
    ]

    fileprivate var cells: [ExportCell] {
        [
            .text(customerID), .text(entitlement.productID), .text(entitlement.environment.name),
            .text(entitlement.productKind.rawValue), .text(entitlement.state.rawValue),
            .text(entitlement.reason?.rawValue), .time(entitlement.since), .time(entitlement.until),
            .number(entitlement.balance), .number(entitlement.shortfall), .text(entitlement.transactionID),
            .text(originalTransactionID),
        ]
    }
}

extension EventContent {
    fileprivate static let columns = [
        "id", "at", "type", "customer_id", "former_customer_id", "environment", "counts", "product_id",
        "transaction_id", "original_transaction_id", "order_id", "units", "balance", "shortfall", "until", "reason",
        "amount", "currency",
    ]

    fileprivate var cells: [ExportCell] {
        [
            .text(id), .time(at), .text(type), .text(customerID), .text(formerCustomerID), .text(environment),
            .flag(counts), .text(productID), .text(transactionID), .text(originalTransactionID),
            .text(orderID?.uuidString.lowercased()), .number(units), .number(balance), .number(shortfall), .time(until),
            .text(reason), .text(price.map { PurchaseFigures.amount($0, currency ?? "") }), .text(currency),
        ]
    }
}
