import Foundation
import PurchaseServer
import TestSupport
import Testing
import Yams

/// docs/metrics.md, the dashboard and the alerts name what `/metrics` has.
@Suite("31.4 The files for monitoring")
struct MonitoringFileTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Corpus.projectFolder.appending(path: path), encoding: .utf8)
    }

    /// The alerts of the rules.
    private struct Rules: Decodable {
        let groups: [Group]

        struct Group: Decodable {
            let rules: [Rule]
        }

        struct Rule: Decodable {
            let alert: String
            let expr: String
            let labels: [String: String]
            let annotations: [String: String]
        }
    }

    private static func rules() throws -> [Rules.Rule] {
        try YAMLDecoder().decode(Rules.self, from: try text("deploy/monitoring/alerts.yml")).groups.flatMap(\.rules)
    }

    /// The names of series that a metric has.
    private static let series: Set<String> = Set(
        ServerMetric.allCases.map(\.definition).flatMap { definition in
            definition.type == "histogram"
                ? ["_bucket", "_sum", "_count"].map { definition.name + $0 } : [definition.name]
        })

    /// The metrics of this server that an expression names.
    private static func metrics(in expression: String) -> Set<String> {
        let words = expression.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
        return Set(words.filter { word in ["assay_", "http_server_", "process_"].contains { word.hasPrefix($0) } })
    }

    @Test("docs/metrics.md has each metric with its type, unit, labels and meaning, and no other")
    func documented() throws {
        let page = try Self.text("docs/metrics.md")
        for metric in ServerMetric.allCases {
            let definition = metric.definition
            let unit =
                switch definition.unit {
                case .none: ""
                case .timestamp: "seconds since 1970"
                case .seconds, .bytes: definition.unit.rawValue
                }
            let labels = definition.labels.map { "`\($0)`" }.joined(separator: ", ")
            let row = "| `\(definition.name)` | \(definition.type) | \(unit) | \(labels) | \(definition.meaning) | "
            #expect(page.contains("\n\(row)"), "\(row)")
        }
        let rows = page.split(separator: "\n").filter { line in
            ["| `assay_", "| `http_server_", "| `process_"].contains { line.hasPrefix($0) }
        }
        #expect(rows.count == ServerMetric.allCases.count)
    }

    @Test("Each alert names metrics that exist, and a section of the operations page; the page of metrics names it")
    func alerts() throws {
        let (rules, operations) = (try Self.rules(), try Self.text("docs/operations.md"))
        let page = try Self.text("docs/metrics.md")
        #expect(rules.count >= 15 && Set(rules.map(\.alert)).count == rules.count)
        let sections = Set(
            operations.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" }
            })
        for rule in rules {
            let named = Self.metrics(in: rule.expr)
            #expect(named.isSubset(of: Self.series), "\(rule.alert): \(named.subtracting(Self.series))")
            #expect(!named.isEmpty || rule.expr.hasPrefix("up"), "\(rule.alert)")
            let parts = (rule.annotations["runbook"] ?? "").components(separatedBy: "docs/operations.md#")
            #expect(parts.count == 2 && sections.contains(parts.last ?? ""), "\(rule.alert): \(parts)")
            #expect(rule.annotations["summary"]?.isEmpty == false)
            #expect(["page", "ticket"].contains(rule.labels["severity"]), "\(rule.alert)")
            #expect(page.contains("`\(rule.alert)`"), "docs/metrics.md does not name \(rule.alert)")
        }
    }

    @Test("docs/metrics.md names no alert that the rules do not have, in the row of a metric that it uses")
    func alertsOfMetrics() throws {
        let rules = Dictionary(uniqueKeysWithValues: try Self.rules().map { ($0.alert, $0.expr) })
        for line in try Self.text("docs/metrics.md").split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 5, cells[0].hasPrefix("`assay_") || cells[0].hasPrefix("`http_"),
                let last = cells.last
            else { continue }
            let metric = cells[0].filter { $0 != "`" }
            for alert in last.split(whereSeparator: { !$0.isLetter }).map(String.init) where alert.hasPrefix("Assay") {
                let expression = try #require(rules[alert], "\(alert)")
                #expect(Self.metrics(in: expression).contains { $0.hasPrefix(metric) }, "\(alert) and \(metric)")
            }
        }
    }

    @Test("Each panel of the dashboard asks for metrics that exist")
    func dashboard() throws {
        struct Dashboard: Decodable {
            let panels: [Panel]

            struct Panel: Decodable {
                let title: String
                let targets: [Target]?
            }

            struct Target: Decodable {
                let expr: String
            }
        }
        let json = Data(try Self.text("deploy/monitoring/dashboard.json").utf8)
        let panels = try JSONDecoder().decode(Dashboard.self, from: json).panels
        #expect(panels.count >= 15)
        for panel in panels {
            for target in panel.targets ?? [] {
                let named = Self.metrics(in: target.expr)
                #expect(!named.isEmpty, "\(panel.title)")
                #expect(named.isSubset(of: Self.series), "\(panel.title): \(named.subtracting(Self.series))")
            }
        }
    }
}
