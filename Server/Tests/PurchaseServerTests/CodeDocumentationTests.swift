import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// docs/codes.md and the list of events, compared with the program.
@Suite("The table of codes")
struct CodeDocumentationTests {
    /// The rows of the tables of a section, each without its outer bars.
    private static func rows(_ section: String) throws -> [[String]] {
        let text = try text("docs/codes.md")
        let part = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix(section + "\n") })
        return part.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Corpus.projectFolder.appendingPathComponent(path), encoding: .utf8)
    }

    private static func code(_ cell: String) -> String { cell.replacingOccurrences(of: "`", with: "") }

    @Test("Every decision is in the table once, with its status and its dispositions")
    func decisions() throws {
        let rows = try Self.rows("Claims")
        #expect(rows.map { Self.code($0[0]) }.sorted() == DecisionCode.allCases.map(\.rawValue).sorted())
        for row in rows {
            let code = try #require(DecisionCode(rawValue: Self.code(row[0])))
            let dispositions = [true, false].map { "`\(code.disposition(hasPurchase: $0).rawValue)`" }
            let expected = dispositions[0] == dispositions[1] ? dispositions[0] : dispositions.joined(separator: " or ")
            #expect(row[2] == expected, "\(code.rawValue)")
            #expect(row[1] == "\(HTTPResponse.Status(code).code)", "\(code.rawValue)")
            #expect(row[3].hasSuffix(".") && row[4].hasSuffix("."))
        }
    }

    @Test("C.16 docs/codes.md has the disposition of every code of the core")
    func reasonDispositions() throws {
        let lines = try Self.text("docs/codes.md").split(separator: "\n")
        for code in ReasonCode.allCases {
            let line = try #require(lines.first { $0.hasPrefix("| `\(code.rawValue)` |") }, "\(code.rawValue)")
            #expect(line.hasSuffix("| `\(code.disposition.rawValue)` |"), "\(line)")
        }
    }

    @Test("Every refusal of another request is in the table or in the text below it, with its status")
    func refusals() throws {
        let rows = try Self.rows("Other requests")
        let listed = Dictionary(uniqueKeysWithValues: rows.map { (Self.code($0[0]), $0[1]) })
        let claims = Set(DecisionCode.allCases.map(\.rawValue))
        let elsewhere: Set = ["bundle_of_another_app", "app_name_too_long", "consumables_unstated"]
        for code in LedgerRefusal.Code.allCases
        where !claims.contains(code.rawValue) && !elsewhere.contains(code.rawValue) {
            #expect(listed[code.rawValue] == "\(HTTPResponse.Status(code).code)", "\(code.rawValue)")
        }
        #expect(listed.keys.allSatisfy { LedgerRefusal.Code(rawValue: $0) != nil })
    }

    @Test("Every type of event is described, in the description of the interface, and a constant of the wire")
    func events() throws {
        let types = EventType.allCases.map(\.rawValue).sorted()
        let guide = try Self.text("docs/webhooks.md")
        let part = try #require(guide.components(separatedBy: "\n## ").first { $0.hasPrefix("Types and bodies\n") })
        let cells = part.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap {
            $0.split(separator: "|").first
        }
        let listed = cells.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
        // Webhooks have one additional type, which is not an event of the ledger.
        #expect(listed.filter { $0 != "type" }.sorted() == (types + ["gap"]).sorted())
        let description = try Self.text("Server/Sources/PurchaseServer/Resources/openapi.yaml")
        let lines = description.split(separator: "\n")
        let enumeration = try #require(lines.first { $0.contains("enum: [granted, renewed, ") })
        let words = enumeration.split { "[]".contains($0) }.dropFirst().first ?? ""
        #expect(words.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.sorted() == types)
        for type in EventType.allCases { #expect(EventMessage.Kind(type).rawValue == type.rawValue) }
    }
}
