import Foundation
import Testing

/// Reads a flat dictionary of the old style of property lists, without code of the simulator.
struct PropertyListText {
    /// The entries, in order.
    let entries: [(key: String, value: String)]

    struct Malformed: Error {}

    init(_ bytes: [UInt8]) throws {
        var text = Substring(decoding: bytes, as: UTF8.self)
        func skip(_ expected: String) throws {
            while let first = text.first, first.isWhitespace { text.removeFirst() }
            guard text.hasPrefix(expected) else { throw Malformed() }
            text.removeFirst(expected.count)
        }
        func word() throws -> String {
            try skip("\"")
            guard let end = text.firstIndex(of: "\"") else { throw Malformed() }
            defer { text = text[text.index(after: end)...] }
            return String(text[..<end])
        }
        var entries: [(key: String, value: String)] = []
        try skip("{")
        while text.first(where: { !$0.isWhitespace }) != "}" {
            let key = try word()
            try skip("=")
            entries.append((key, try word()))
            try skip(";")
        }
        try skip("}")
        guard text.isEmpty else { throw Malformed() }
        self.entries = entries
    }

    subscript(key key: String) -> String? {
        entries.first { $0.key == key }?.value
    }

    /// A value that is base64.
    func bytes(_ key: String) throws -> [UInt8] {
        let value = try #require(self[key: key])
        return [UInt8](try #require(Data(base64Encoded: value)))
    }
}

/// The parts of a transaction receipt.
struct ReadTransactionReceipt {
    let outer: PropertyListText
    let version: UInt8
    let signature: [UInt8]
    let certificate: [UInt8]
    let purchaseInfo: [UInt8]

    init(_ bytes: [UInt8], signatureLength: Int) throws {
        outer = try PropertyListText(bytes)
        let field = try outer.bytes("signature")
        version = try #require(field.first)
        signature = Array(field.dropFirst().prefix(signatureLength))
        let length = field.dropFirst(1 + signatureLength).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        certificate = Array(field.dropFirst(5 + signatureLength))
        #expect(certificate.count == length)
        purchaseInfo = try outer.bytes("purchase-info")
    }

    /// The bytes that the signature covers.
    var signedBytes: [UInt8] { [version] + purchaseInfo }
}
