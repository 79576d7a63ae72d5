import Foundation
import PurchaseLedger
import TestSupport
import Testing

@Suite("The rules of a claim")
struct ClaimRulesTests {
    /// The cells of the rows of a table, without backquotes.
    private static func rows(of section: String, in path: String) throws -> [[String]] {
        let text = try String(contentsOf: Corpus.projectFolder.appendingPathComponent(path), encoding: .utf8)
        let part = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix(section + "\n") })
        return part.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
        }
    }

    @Test("33.1 docs/ledger.md lists the rules in their order, with the stage and the code of each")
    func documentedOrder() throws {
        let rows = try Self.rows(of: "The rules of a claim", in: "docs/ledger.md")
        let listed = rows.map { "\($0[0]) \($0[1])" }
        let rules = ClaimRules.codes.map { "\($0.stage.rawValue) \($0.code?.rawValue ?? "a code of the core")" }
        #expect(!rules.isEmpty)
        #expect(listed == rules)
    }

    @Test("33.1 Every code of a claim is that of a rule, of the request, or of the App Store's answer")
    func everyCodeHasARule() throws {
        let documented = try Self.rows(of: "Claims", in: "docs/codes.md").map { $0[0] }
        let request: [DecisionCode] = [.bodyMalformed, .bodyTooLarge, .fieldMissing, .fieldMalformed]
        let answer: [DecisionCode] = [
            .appStorePending, .appStoreUnanswered, .appStoreRefused, .appStoreContradicts, .appStoreSecretMismatch,
        ]
        let others = request + answer + [.accepted]
        let rules = Set(ClaimRules.codes.compactMap(\.code))
        #expect(rules.isDisjoint(with: others))
        #expect(Set(documented) == Set((rules.union(others)).map(\.rawValue)))
    }
}
