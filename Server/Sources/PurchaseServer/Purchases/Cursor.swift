import Foundation
import HTTPTypes
import PurchaseLedger

/// The position in a list, as an opaque text.
enum Cursor {
    static func text(_ parts: [String]) -> String {
        Data(parts.joined(separator: "\n").utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func parts(_ text: String) throws -> [String] {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 < 0x80 }) else { throw Problem.cursor }
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64 + padding),
            let joined = String(data: data, encoding: .utf8)
        else { throw Problem.cursor }
        return joined.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}

extension Problem {
    static var cursor: Problem { parameter("cursor", "the next_cursor of an answer") }

    static func parameter(_ name: String, _ expected: String, found: String? = nil) -> Problem {
        Problem(
            .badRequest, DecisionCode.fieldMalformed.rawValue, DecisionCode.fieldMalformed.sentence,
            expected: "\(name): \(expected)", found: found)
    }
}
