import Crypto
import EvidenceMint
import Foundation

/// A `revision` or `paginationToken`: the place where a list continues, bound to the question that it answers.
struct PageToken: Codable, Equatable, Sendable {
    /// The digest of the question.
    let question: String
    /// Where to continue.
    var place: Int
    /// For a list from the last change to the first: the newest change of this run.
    var top = 0
    /// For such a list: the newest change of the run before.
    var floor = 0
    /// After which the token is refused, in seconds since 1970; nil if it stays valid.
    var expiry: Int64?

    /// The token that a client sends; without one, that of the beginning.
    /// - Parameter question: everything that must be repeated with the token.
    /// - Throws: the failure if it is no token, or belongs to another question.
    init(_ text: String?, question: [String], or failure: ServerAPIFailure) throws(ServerAPIFailure) {
        let digest = Self.digest(question)
        guard let text else {
            (self.question, place) = (digest, 0)
            return
        }
        guard text.utf8.count <= 512, let json = Base64URL.decode(text.utf8),
            let token = try? JSONDecoder().decode(PageToken.self, from: Data(json)),
            token.question.utf8.elementsEqual(digest.utf8)
        else { throw failure }
        self = token
    }

    /// The token for the client.
    func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Base64URL.encode(try encoder.encode(self))
    }

    private static func digest(_ question: [String]) -> String {
        Data(SHA256.hash(data: Data(question.joined(separator: "\n").utf8)).prefix(12)).base64EncodedString()
    }
}

/// Base64 for URLs (RFC 4648, 5), without padding.
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// - Returns: nil for anything else.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1, text.allSatisfy({ $0 != UInt8(ascii: "=") }) else { return nil }
        let base64 = text.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - base64.count % 4) % 4)
        return Data(base64Encoded: Data(base64 + padding)).map { Array($0) }
    }
}
