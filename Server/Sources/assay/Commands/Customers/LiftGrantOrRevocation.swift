import ArgumentParser
import Foundation
import PurchaseLedger

/// `assay customers lift`.
struct LiftGrantOrRevocation: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lift", abstract: "Ends a grant or a revocation that an operator made.")

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Argument(help: "The customer's id.")
    var customer: String

    @Argument(help: "The id that 'grant' or 'revoke' printed; 'assay customers show' lists it.")
    var id: UUID

    func run() async throws {
        try await options.withLedger { ledger, app in
            try await ledger.perform(
                LiftByHand(app: app, customerID: customer, id: id, reason: reason.reason))
            Terminal.write("assay: lifted \(id.uuidString.lowercased())\n")
        }
    }
}
