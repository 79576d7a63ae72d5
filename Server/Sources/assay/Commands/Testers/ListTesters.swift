import ArgumentParser
import PurchaseLedger

/// `assay testers list`.
struct ListTesters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Prints the testers of an app, one per line.")

    @OptionGroup var options: OperatorOptions

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            var last: Int64? = 0
            while let after = last {
                let page = try await ledger.answer(TesterList(app: app, after: after, limit: 500))
                for name in page.names { Terminal.write("\(name.printable)\n") }
                last = page.next
            }
        }
    }
}
