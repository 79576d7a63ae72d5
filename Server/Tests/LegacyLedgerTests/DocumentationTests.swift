import Foundation
import LegacyLedger
import TestSupport
import Testing

@Suite("Documentation of the purchase server")
struct PurchaseServerDocumentationTests {
    @Test("Every code of a decision and of the database is in docs/purchase-server.md, with its status")
    func codes() throws {
        let url = Corpus.projectFolder.appending(path: "docs/purchase-server.md")
        let text = try String(contentsOf: url, encoding: .utf8)
        for code in DecisionCode.allCases {
            #expect(text.contains("| `\(code.rawValue)` | \(code.status) |"), "\(code.rawValue)")
        }
        for kind in LedgerStorageError.Kind.allCases where kind != .constraint && kind != .other {
            #expect(text.contains("`\(kind.rawValue)`"), "\(kind.rawValue)")
        }
        let description = try String(
            contentsOf: Corpus.projectFolder.appending(path: "Server/Sources/PurchaseServer/Resources/openapi.yaml"),
            encoding: .utf8)
        for code in LedgerRefusal.Code.allCases {
            #expect(description.contains("`\(code.rawValue)`"), "\(code.rawValue)")
        }
    }
}
