import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("Documentation")
struct DocumentationTests {
    @Test("docs/codes.md lists every code once, and no others")
    func reasonCodes() throws {
        let url = Corpus.projectFolder.appendingPathComponent("docs/codes.md")
        let text = try String(contentsOf: url, encoding: .utf8)
        for code in ReasonCode.allCases {
            let count = text.components(separatedBy: "`\(code.rawValue)`").count - 1
            #expect(count == 1, "\(code.rawValue) stands \(count) times")
            #expect(!code.sentence.isEmpty && code.sentence.hasSuffix("."))
        }
    }
}
