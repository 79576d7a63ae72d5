import ArgumentParser
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// `assay events show`.
struct ShowEvent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows an event.")

    @OptionGroup var options: OperatorOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    @Argument(help: "The number of the event, as 'assay events list' shows it.")
    var event: Int64

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            let page = try await ledger.answer(
                EventSearch(app: app, filter: EventFilter(), after: max(0, event - 1), limit: 1))
            guard let found = page.events.first, found.cursor == event else {
                Terminal.complain("the app has no event \(event); 'assay events list' lists all")
                throw ExitCode.rejected
            }
            let message = EventMessage(found.content)
            if json { try ListOptions.write(message) } else { Terminal.write(try FactList.text(message)) }
        }
    }
}
