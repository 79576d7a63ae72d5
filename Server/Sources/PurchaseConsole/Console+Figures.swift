import PurchaseLedger
import PurchaseVerification

// The figures of an app, as `assay report` counts them (docs/figures.md).
extension Console {
    /// An app with more originals is counted by `assay report` only: a page must not take minutes.
    private static let mostOriginals = 100_000

    func figures(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let (app, now) = (try app(request), surroundings.clock())
        let step = FigurePeriods.Step(rawValue: request.query["by"] ?? "") ?? .day
        let product = request.query["product"].flatMap { $0.isEmpty ? nil : $0 }
        let environment: AppStoreEnvironment = request.query["environment"] == "Sandbox" ? .sandbox : .production
        func link(
            _ name: String, _ app: String, _ step: FigurePeriods.Step, _ environment: AppStoreEnvironment,
            _ product: String?
        ) -> [String: Any] {
            let members = ["app": app, "by": step.rawValue, "environment": environment.name, "product": product]
            let query = members.sorted { $0.key < $1.key }.map { "\($0.key)=\(FormFields.encoded($0.value ?? ""))" }
            return ["name": name, "href": "/console/figures?\(query.joined(separator: "&"))"]
        }
        var choices: [[String: Any]] = FigurePeriods.Step.allCases.map {
            link($0 == .day ? "30 days" : "12 months", app, $0, environment, product)
        }
        for one in [AppStoreEnvironment.production, .sandbox] {
            choices.append(link(one.name, app, step, one, product))
        }
        for one in ledger().apps { choices.append(link("all of \(one)", one, step, environment, nil)) }
        var values: [String: Any] = ["app": app, "step": step.rawValue, "choices": choices]
        let first = FigurePeriods.usualStart(until: now, by: step)
        if let periods = FigurePeriods(from: first, to: now, by: step, now: now) {
            var report = PurchaseReport(app: app, periods: periods)
            (report.environment, report.product, report.mostOriginals) = (environment, product, Self.mostOriginals)
            if let fold = try await reports.answer(
                [app, step.rawValue, environment.name, product], now, report, ledger())
            {
                (values["time"], values["environment"]) = (
                    "\(fold.periods.bounds[fold.figures.count])", environment.name
                )
                values.merge(
                    Self.values(fold, by: step) { link("", app, step, environment, $0)["href"] as? String }
                ) { $1 }
            } else {
                values["tooMany"] = "\(Self.mostOriginals)"
            }
        }
        return render("figures", product.map { "Figures of \($0)" } ?? "Figures", visit, values)
    }

    private static func values(
        _ fold: FiguresFold, by step: FigurePeriods.Step, _ address: (String) -> String?
    ) -> [String: Any] {
        let (times, numbers) = (Array(fold.periods.bounds.dropLast()), PurchaseFigures.Count.allCases)
        func title(_ name: String) -> String {
            name.prefix(1).uppercased() + name.dropFirst().replacing("_", with: " ")
        }
        func drawing(
            _ name: String, isBad: Bool = false, _ words: (Int64) -> String = { "\($0)" },
            _ value: (PurchaseFigures) -> Int64
        ) -> [String: Any] {
            let all = fold.figures.map(value)
            return HourlyBars.drawing(
                title(name), sum: words(value(fold.total)), all, times, words: words,
                most: "at most \(words(all.max() ?? 0))", isBad: isBad)
        }
        // The currencies with the largest sums; the others are in the table.
        let currencies = Dictionary(grouping: fold.total.gross, by: \.key.currency)
            .mapValues { $0.reduce(0.0) { $0 + Double($1.value) } }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        func table(_ label: String, _ first: String, _ rows: [(Cell, PurchaseFigures)]) -> [[String: Any]] {
            let columns = [first] + numbers.map { title($0.rawValue) } + ["Gross"]
            return ConsoleTable.fields(
                label, columns,
                rows.map { cell, figures in
                    let sums = figures.sums.map { "\($0.amount) \($0.price.currency) \($0.price.storefront)" }
                    return [cell] + numbers.map { Cell(figures[$0] == 0 ? nil : "\(figures[$0])") }
                        + [Cell(sums.joined(separator: ", "))]
                })
        }
        let money: [[String: Any]] = currencies.prefix(3).map { currency, _ in
            drawing("Gross in \(currency)", { PurchaseFigures.amount($0, currency) }) { figures in
                figures.gross.reduce(0) { $1.key.currency == currency ? $0 &+ $1.value : $0 }
            }
        }
        let drawings: [[String: Any]] = numbers.map { count in
            drawing(count.rawValue, isBad: [.churned, .inRetry, .refunds].contains(count)) { $0[count] }
        }
        let products = fold.products.sorted { $0.key < $1.key }.map { (Cell($0.key, href: address($0.key)), $0.value) }
        let reasons = fold.total.churned.sorted { $0.key.rawValue < $1.key.rawValue }
        let tables = [
            table("By product", "Product", products),
            ConsoleTable.fields(
                "Churned by reason", ["Reason", "Subscriptions"],
                reasons.map { [Cell(title($0.key.rawValue)), Cell("\($0.value)")] }),
            ConsoleTable.fields(
                "Gross by currency and storefront", ["Currency", "Storefront", "Gross"],
                fold.total.sums.map { [Cell($0.price.currency), Cell($0.price.storefront), Cell($0.amount)] }),
            table("By \(step)", "From", zip(times, fold.figures).reversed().map { (Cell(ReadableTimes.day($0)), $1) }),
        ]
        return ["drawings": drawings + money, "tables": Array(tables.joined())]
    }
}

/// The figures of pages, each counted at most once a minute, and one at a time.
actor FiguresInMemory {
    private typealias Answer = Task<FiguresFold?, any Error>

    private var answers: [[String?]: (at: Timestamp, answer: Answer)] = [:]
    private var last: Answer?

    func answer(
        _ key: [String?], _ now: Timestamp, _ report: PurchaseReport, _ ledger: PurchaseLedger
    ) async throws -> FiguresFold? {
        let minute = now.adding(milliseconds: -60_000, times: 1)...now
        answers = answers.filter { minute.contains($0.value.at) }
        if let known = answers[key] { return try await known.answer.value }
        let before = last
        let answer = Answer {
            _ = await before?.result
            return try await ledger.answer(report)
        }
        (answers[key], last) = ((now, answer), answer)
        do {
            return try await answer.value
        } catch {
            answers[key] = nil
            throw error
        }
    }
}

/// The template of the figures.
enum FigureTemplates {
    static let page = (
        "figures",
        """
        {{> head}}<p>{{#choices}}<a href="{{href}}">{{name}}</a> {{/choices}}</p>
        {{#tooMany}}<p class="note">The app has more than {{tooMany}} originals; count with assay report.</p>{{/tooMany}}
        {{#time}}<section><h2>{{app}} by {{step}}, {{environment}}</h2><p class="soft">Until {{#time}}{{> text}}{{/time}}. \
        Amounts are gross, as Apple signed them.</p><div class="hours">{{#drawings}}{{> bars}}{{/drawings}}</div></section>
        {{#tables}}<section><h2>{{label}}</h2>{{> table}}</section>{{/tables}}{{/time}}{{> foot}}
        """
    )
}
