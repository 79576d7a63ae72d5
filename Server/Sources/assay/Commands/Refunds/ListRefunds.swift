import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// `assay refunds list`.
struct ListRefunds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists refund requests and what Apple was told, newest first.")

    @OptionGroup var options: OperatorOptions
    @OptionGroup var list: ListOptions

    @Option(name: .long, help: "Only requests in this state.")
    var state: ConsumptionRequestState?

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            let found = try await list.entries { (cursor: Int64?, limit) in
                let page = try await ledger.answer(
                    RefundRequestList(app: app, state: state, before: cursor ?? .max, limit: limit))
                return (page.requests, page.next)
            }
            let messages = found.entries.map { RefundRequestMessage($0) }
            var table = TextTable([
                "ASKED", "STATE", "CUSTOMER", "PRODUCT", "TRANSACTION", "USED", "PREFERENCE", "REFUSAL", "APPLE",
            ])
            for message in messages {
                table.append([
                    message.askedAt.printable, message.state.printable, message.customerID.cell,
                    message.productID.cell, message.transactionID.printable,
                    (message.answer?.consumptionPercentage).cell, (message.answer?.refundPreference).cell,
                    message.refusal.cell, message.closedBy.cell,
                ])
            }
            try list.write(table, json: messages, hasMore: found.hasMore)
        }
    }
}
