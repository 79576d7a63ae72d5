import ArgumentParser
import PurchaseLedger

/// `assay testers list`.
struct ListTesters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Writes the testers of an app, one a line.")

    @OptionGroup var options: OperatorOptions

    func run() async throws {
        try await options.withLedger(.reading) { ledger in
            for name in try await ledger.answer(TesterList(app: options.app)) {
                Terminal.write("\(name.printable)\n")
            }
        }
    }
}
