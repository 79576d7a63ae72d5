import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TextFormats

/// `assay report`: figures of an app, and what other refund policies would have said.
///
/// It has no options itself, as `Simulate`.
struct Report: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Counts subscriptions, churn, refunds and gross amounts by day or month.",
        discussion:
            "Without a subcommand, 'assay report' counts figures, with these options:\n\n\(ReportFigures.optionsHelp)",
        subcommands: [ReportFigures.self, ReplayRefunds.self], defaultSubcommand: ReportFigures.self)
}

/// `assay report`, or `assay report figures`.
struct ReportFigures: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "figures",
        abstract: "Counts figures from what is recorded; docs/figures.md defines each.")

    @OptionGroup var options: OperatorOptions

    @Option(
        help:
            "The first day in UTC, such as 2026-01-31; without it 30 days, or 12 months, until the last one."
    )
    var from: FigureDay?

    @Option(help: "The last day in UTC; today, if not given.")
    var to: FigureDay?

    @Option(help: "The length of a period: day or month.")
    var by = FigurePeriods.Step.day

    @Option(help: "Only this product.")
    var product: String?

    @Option(help: "The environment whose purchases are counted.")
    var environment = AppStoreEnvironment.production

    @Flag(help: "Print one JSON object a line, for each period.")
    var json = false

    func run() async throws {
        let now = Timestamp(Date())
        let last = to?.start ?? now
        let first = from?.start ?? FigurePeriods.usualStart(until: last, by: by)
        guard let periods = FigurePeriods(from: first, to: last, by: by, now: now) else {
            throw ValidationError(
                "There are no periods from \(first) to \(last), or more than \(FigurePeriods.limit); change --from and --to."
            )
        }
        try await options.withLedger(.reading) { ledger, app in
            var report = PurchaseReport(app: app, periods: periods)
            (report.environment, report.product) = (environment, product)
            guard let fold = try await ledger.answer(report) else { return }
            try check(product, of: app, ledger, fold)
            let messages = fold.figures.enumerated().map { place, figures in
                FiguresMessage(
                    from: periods.bounds[place], to: periods.bounds[place + 1], report: report, figures: figures)
            }
            guard !json else { return try messages.forEach { try MessageText.write($0) } }
            let names = PurchaseFigures.Count.allCases.map { $0.rawValue.uppercased().replacing("_", with: " ") }
            var table = TextTable(["FROM"] + names + ["REASONS", "GROSS"])
            for message in messages { table.append(message.cells) }
            Terminal.write(table.text(indent: 0))
        }
    }
}

extension ReportFigures {
    /// Says why all figures are 0.
    ///
    /// - Throws: `InputError` if another product has nearly the same id.
    private func check(_ product: String?, of app: String, _ ledger: PurchaseLedger, _ fold: FiguresFold) throws {
        if let product, !fold.sold.contains(product) {
            let known = fold.sold.union(ledger.settings(of: app)?.products.keys.map(\.self) ?? []).sorted()
            let meant = WordSuggestion.nearest(to: product, among: known).map { "; did you mean '\($0)'?" } ?? ""
            guard known.contains(product) || meant.isEmpty else {
                throw InputError(product, "is no product of \(app) in its settings or its purchases\(meant)")
            }
        } else if !fold.sold.isEmpty {
            return
        }
        Terminal.remark(
            "nothing\(product.map { " of \($0)" } ?? "") that counts was bought in \(environment.name); --environment names "
                + "another")
    }
}

/// A day in UTC.
struct FigureDay: ExpressibleByArgument {
    let start: Timestamp

    init?(argument: String) {
        guard argument.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil,
            let start = Timestamp("\(argument)T00:00:00Z")
        else { return nil }
        self.start = start
    }
}

/// The figures of a period, as `--json` prints them.
private struct FiguresMessage: Encodable {
    let from, to: Timestamp
    let report: PurchaseReport
    let figures: PurchaseFigures

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private var reasons: [String: Int] {
        Dictionary(uniqueKeysWithValues: figures.churned.map { ($0.key.rawValue, $0.value) })
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Name.self)
        let texts = [
            "from": "\(from)", "to": "\(to)", "environment": report.environment.name, "product": report.product,
        ]
        for (name, text) in texts { try members.encodeIfPresent(text, forKey: Name(stringValue: name)) }
        for count in PurchaseFigures.Count.allCases where count != .churned {
            try members.encode(figures[count], forKey: Name(stringValue: count.rawValue))
        }
        try members.encode(reasons, forKey: Name(stringValue: "churned"))
        let gross = figures.sums.map { price, amount in
            ["currency": price.currency, "storefront": price.storefront, "amount": amount].filter { !$0.value.isEmpty }
        }
        try members.encode(gross, forKey: Name(stringValue: "gross"))
    }

    var cells: [String] {
        let numbers = PurchaseFigures.Count.allCases.map { figures[$0] == 0 ? "-" : "\(figures[$0])" }
        let reasons = reasons.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let sums = figures.sums.map { "\($0.amount) \($0.price.currency) \($0.price.storefront)".printable }
        return [String("\(from)".prefix { $0 != "T" })] + numbers
            + [reasons, sums].map { $0.isEmpty ? "-" : $0.joined(separator: ", ") }
    }
}
